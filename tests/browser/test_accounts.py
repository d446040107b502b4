"""People in a real browser: passkeys, and sign-in by an OpenID provider."""

from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from pytest_httpserver import HTTPServer

from config import env
from tests.support.openid import CLIENT_ID, CLIENT_SECRET, OpenIdProvider

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "quarry-stone-42"


@pytest.fixture
def maya(live_server: LiveServer) -> User:
    return User.objects.create_user("maya", "maya@example.org", PASSWORD)


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, maya: User) -> Iterator[Page]:
    """With an authenticator in it, as a laptop with a fingerprint reader has one."""
    context = browser.new_context(base_url=live_server.url)
    page = context.new_page()
    devices = context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield page
    context.close()


def sign_in(page: Page) -> None:
    page.goto("/accounts/login/")
    page.fill("[name=login]", "maya")
    page.fill("[name=password]", PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Sign out maya").click()
    page.wait_for_url("**/accounts/login/**")


def confirm(page: Page) -> None:
    """What changes how one signs in is asked for with the password, once more."""
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


def test_a_passkey_is_added_signs_in_alone_and_is_removed(page: Page, maya: User) -> None:
    sign_in(page)
    expect(page.get_by_role("heading", name="Welcome to your library")).to_be_visible()
    page.goto("/accounts/2fa/webauthn/add/")
    confirm(page)
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add").click()
    page.wait_for_url("**/recovery-codes/**")
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_text("Laptop")).to_be_visible()
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Welcome to your library")).to_be_visible()
    sign_out(page)
    sign_in(page)  # a password is not enough any more
    page.wait_for_url("**/accounts/2fa/authenticate/**")
    page.get_by_role("button", name="Use a security key").click()
    expect(page.get_by_role("heading", name="Welcome to your library")).to_be_visible()
    page.goto("/accounts/2fa/webauthn/")
    page.get_by_role("link", name="Remove").click()
    confirm(page)
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No security keys have been added.")).to_be_visible()
    assert not Authenticator.objects.filter(type="webauthn").exists()
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("Incorrect code.")).to_be_visible()
    sign_in(page)
    expect(page.get_by_role("heading", name="Welcome to your library")).to_be_visible()


def test_the_openid_provider_is_connected_and_signs_in(
    page: Page, httpserver: HTTPServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = OpenIdProvider(httpserver)
    monkeypatch.setenv("QUARRY_OIDC_URL", provider.issuer)
    monkeypatch.setenv("QUARRY_OIDC_CLIENT_ID", CLIENT_ID)
    monkeypatch.setenv("QUARRY_OIDC_CLIENT_SECRET", CLIENT_SECRET)
    settings.SOCIALACCOUNT_PROVIDERS = env.oidc_providers()
    sign_in(page)
    page.goto("/accounts/password/change/")
    page.get_by_role("link", name="Single sign-on").click()
    page.get_by_role("link", name="single sign-on").last.click()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/accounts/3rdparty/")
    sign_out(page)
    page.get_by_role("link", name="single sign-on").click()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Welcome to your library")).to_be_visible()
