"""What a person does, in a browser of their own."""

import shutil
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


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
