"""A real browser against a real server, or a skip that says why not."""

import os
import shutil
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NAMES = ("chromium", "chromium-browser", "google-chrome")

expect.set_options(timeout=30_000)  # as long as Playwright waits for everything else


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One for each module: to start one takes longer than most of what is looked at in it.

    No longer, as Playwright keeps an event loop in this thread for as long as it lives, which
    Django must be told to bear.
    """
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        missing = f"no browser: none of {', '.join(_NAMES)} is on the PATH"
        if os.environ.get("QUARRY_BROWSER_TESTS") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield browser
        browser.close()
        connections.close_all()  # those of a thread with a loop are not those without it


@pytest.fixture
def browser(chromium: Browser, live_server: LiveServer) -> Iterator[Browser]:
    """As if it had just been started: nobody's cookies or pages are left in it."""
    yield chromium
    for context in chromium.contexts:
        context.close()


@pytest.fixture
def signed_in(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A page of an administrator who has signed in."""
    client = Client()
    client.force_login(User.objects.create_superuser("admin"))
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    context = browser.new_context(base_url=live_server.url)
    context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])
    yield context.new_page()
    context.close()
