"""axe-core finds nothing serious on any page for people, in light and dark."""

import os
import shutil
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from playwright.sync_api import BrowserContext, Page, sync_playwright
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from tests.conformance.clients import CACHE, Node, without
from tests.support.admin import furnish
from tests.support.console_pages import console_pages
from tests.support.people import OIDC, PASSWORD, addresses_for, browser_of, furnish_account

pytestmark = pytest.mark.django_db(transaction=True)

AXE = CACHE / "node_modules" / "axe-core" / "axe.min.js"
NO_PAGES = ("/accounts/2fa/recovery-codes/download/",)
"""A file."""

EMPTY = ("/accounts/2fa/", "/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/")
"""What looks different for somebody who has nothing yet."""

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
NARROW = {"runOnly": ["color-contrast", "target-size", "scrollable-region-focusable"]}
"""What the width of a phone decides."""


@pytest.fixture
def context(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[BrowserContext]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        without("no browser is on the PATH")
    monkeypatch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright has a loop
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        # The pages allow no script but their own, and axe is none of these.
        yield browser.new_context(base_url=live_server.url, bypass_csp=True)
        browser.close()
        connections.close_all()


def sign_in(context: BrowserContext, live_server: LiveServer, client: Client) -> None:
    cookie = client.cookies[django_settings.SESSION_COOKIE_NAME]
    context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])


def serious_faults(page: Page, seen: set[str]) -> Iterator[Any]:
    """In light by all rules, in dark by the one that colours decide."""
    found = page.evaluate("document.title + location.pathname + document.body.innerText.length")
    if found in seen:
        return
    seen.add(found)
    for scheme in SCHEMES:
        options = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
        page.emulate_media(color_scheme=scheme)
        yield from _faults(page, scheme, options)


def _faults(page: Page, seen_as: str, options: dict[str, Any]) -> Iterator[Any]:
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE.read_text())
    for each in page.evaluate("axe.run", options)["violations"]:
        if each["impact"] in ("serious", "critical"):
            yield page.url, seen_as, each["id"], each["nodes"][0]["html"][:200]


def test_no_page_for_people_has_a_serious_fault(
    node: Node, live_server: LiveServer, context: BrowserContext, settings: Settings
) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [OIDC]}}
    settings.EMAIL_SERVER = {"host": "mail.example.org"}
    maya = User.objects.create_user("maya", "maya@example.org", PASSWORD)
    page = context.new_page()
    seen: set[str] = set()
    faults: list[Any] = []
    for who in ("visitor", "member", "member with everything"):
        if who == "member with everything":
            furnish_account(maya)
        if who != "visitor":
            sign_in(context, live_server, browser_of(maya))
        for template, address in addresses_for(maya).items():
            if template not in NO_PAGES and (who != "member" or template in EMPTY):
                page.goto(address)
                faults += serious_faults(page, seen)
    furnish(maya, "granite")
    for address in console_pages(maya, browser_of(maya)):
        page.goto(address)
        faults += serious_faults(page, seen)
        page.set_viewport_size({"width": 390, "height": 844})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            faults += _faults(page, f"{scheme}, narrow", NARROW)
        page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/connections/new")
    page.get_by_label("Name").fill("Laptop")
    for _ in ("refused, for want of tools", "minted"):
        page.get_by_role("checkbox", name="Library").click()
        with page.expect_navigation():
            page.get_by_role("button", name="Create token").click()
        faults += serious_faults(page, seen)
    assert page.get_by_text("qry_").first.is_visible()
    assert faults == []
    assert len(seen) > 50
