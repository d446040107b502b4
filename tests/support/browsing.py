"""What a person does, in a browser of their own."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, Route, expect, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Person:
    name: str
    password: str

    def sign_in(self, page: Page) -> None:
        page.fill("[name=login]", self.name)
        page.fill("[name=password]", self.password)
        page.get_by_role("button", name="Sign in", exact=True).click()


def in_a_browser(work: Callable[[Page], str]) -> str:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no browser is on the PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            return work(browser.new_page(viewport={"width": 1440, "height": 900}))
        finally:
            browser.close()


def consent(address: str, person: Person, folder: str, callback: str) -> str:
    """Sign in, choose one folder, connect; where the person is sent then."""

    def work(page: Page) -> str:
        sent: list[str] = []

        def keep(route: Route) -> None:
            sent.append(route.request.url)
            route.abort()

        page.route(f"{callback}**", keep)
        page.goto(address)
        person.sign_in(page)
        page.get_by_role("heading", name="Connect").wait_for()
        page.get_by_label("Only the folders chosen here").check()
        page.get_by_label(folder).check()
        page.get_by_role("button", name="Connect").click()
        for _ in range(60):
            if sent:
                break
            page.wait_for_timeout(250)
        return sent[0]

    return in_a_browser(work)


def revoke_on_the_page(url: str, person: Person, name: str) -> str:
    """What the page says of one's tokens afterwards."""

    def work(page: Page) -> str:
        page.goto(f"{url}/connections/")
        person.sign_in(page)
        page.get_by_role("link", name=name, exact=True).click()
        page.get_by_role("button", name="Revoke…").click()
        page.get_by_role("button", name="Revoke", exact=True).click()
        expect(page.get_by_text("revoked or expired")).to_be_visible()
        return page.get_by_role("main").inner_text()

    return in_a_browser(work)
