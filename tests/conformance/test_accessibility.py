"""axe-core finds nothing serious on any page for people, in light and dark."""

import re
import shutil
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, sync_playwright

from tests.conformance.clients import CACHE, DEADLINE, Node, Product, without
from tests.support.oauth import CALLBACK, challenge

AXE = CACHE / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    *("/accounts/", "/accounts/2fa/", "/accounts/sessions/", "/accounts/password/change/"),
    *("/accounts/email/", "/accounts/logout/", "/accounts/password/reset/"),
    *("/", "/?q=granite", "/?tag=none", "/folders/", "/items/unknown"),
    *("/ask/", "/memory/", "/memory/board", "/memory/relations", "/memory/new", "/registry/"),
    *("/registry/contribute", "/connections/", "/connections/new", "/settings/"),
)


def serious_faults(page: Page) -> list[Any]:
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run()")["violations"]
    return [(page.url, each["id"]) for each in found if each["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_for_people_has_a_serious_fault(node: Node, product: Product, scheme: Any) -> None:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        without("no browser is on the PATH")
    base = product.mcp.removesuffix("/mcp")
    metadata = {"redirect_uris": [CALLBACK]}
    client = requests.post(f"{base}/oauth/register", json=metadata, timeout=DEADLINE).json()
    consent = (
        f"/oauth/authorize?response_type=code&client_id={client['client_id']}&redirect_uri="
        f"{CALLBACK}&code_challenge={challenge()}&code_challenge_method=S256"
    )
    [password] = re.findall(r"admin password  (\S+)", product.quarry.said)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        # The pages allow no script but their own, and axe is none of these.
        page = browser.new_context(base_url=base, bypass_csp=True, color_scheme=scheme).new_page()
        page.goto("/accounts/login/")
        faults = serious_faults(page)
        page.fill("[name=login]", "admin")
        page.fill("[name=password]", password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(f"{base}/")
        faults += serious_faults(page)
        for address in (*PAGES, consent, "/accounts/invitations/unknown"):
            page.goto(address)
            faults += serious_faults(page)
        page.goto("/")
        page.locator("[data-open]").first.click()
        page.wait_for_url("**/items/*")
        faults += serious_faults(page)
        browser.close()
    assert faults == []
