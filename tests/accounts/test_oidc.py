"""Sign-in by an OpenID provider: whom it lets in, and what it does not believe."""

import re
import time
from html import unescape
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from config import env
from tests.support.openid import CLIENT_ID, CLIENT_SECRET, OTHER_KEY, OpenIdProvider

PASSWORD = "quarry-stone-42"
LOGIN, CALLBACK = "/accounts/oidc/oidc/login/", "/accounts/oidc/oidc/login/callback/"


@pytest.fixture
def provider(
    httpserver: HTTPServer, settings: Settings, monkeypatch: pytest.MonkeyPatch, db: None
) -> OpenIdProvider:
    """Set up as an operator does, by the environment."""
    provider = OpenIdProvider(httpserver)
    monkeypatch.setenv("QUARRY_OIDC_URL", provider.issuer)
    monkeypatch.setenv("QUARRY_OIDC_CLIENT_ID", CLIENT_ID)
    monkeypatch.setenv("QUARRY_OIDC_CLIENT_SECRET", CLIENT_SECRET)
    settings.SOCIALACCOUNT_PROVIDERS = env.oidc_providers()
    settings.QUARRY_OIDC_SIGNUP = False
    return provider


@pytest.fixture
def maya(db: None) -> User:
    return User.objects.create_user("maya", "maya@example.org", PASSWORD)


def go(client: Client, provider: OpenIdProvider, process: str = "login", **changes: str) -> Any:
    """To the provider and back again; the answer to what the browser brings back."""
    brought = provider.authorize(leave(client, f"{LOGIN}?process={process}"))
    return client.get(CALLBACK, {**brought, **changes})


def leave(client: Client, address: str = LOGIN) -> str:
    """Where the page after the button leads, by itself and by a link."""
    page = client.post(address).content.decode()
    links = re.findall(r'(?:url=|href=")(http[^"]+)"', page)
    assert len(links) == 2
    assert len(set(links)) == 1
    return unescape(str(links[0]))


def connect(person: User, provider: OpenIdProvider) -> None:
    """Sign in by password, and connect the provider's account, as the docs say."""
    client = Client()
    client.post("/accounts/login/", {"login": person.username, "password": PASSWORD})
    assert go(client, provider, "connect").status_code == 302


def signed_in_as(client: Client) -> str:
    page: Any = client.get("/connections/")
    return str(page.wsgi_request.user) if page.status_code == 200 else ""


def test_whoever_connected_it_signs_in_by_it(provider: OpenIdProvider, maya: User) -> None:
    connect(maya, provider)
    client = Client()
    assert b"single sign-on" in client.get("/accounts/login/").content
    before = client.session.session_key
    answer = go(client, provider)
    assert answer.status_code == 302
    assert signed_in_as(client) == "maya"
    assert client.session.session_key != before
    assert provider.asked["redirect_uri"] == f"http://testserver{CALLBACK}"
    assert User.objects.count() == 1


def test_a_stranger_is_refused_unless_the_operator_lets_strangers_in(
    provider: OpenIdProvider, settings: Settings
) -> None:
    provider.person = {"sub": "7", "preferred_username": "otto", "email": "otto@example.org"}
    client = Client()
    refused = go(client, provider)
    assert refused.status_code == 200
    assert b"closed" in refused.content
    assert not User.objects.exists()
    settings.QUARRY_OIDC_SIGNUP = True
    assert go(client, provider).status_code == 302
    otto = User.objects.get()
    assert signed_in_as(client) == otto.username == "otto"
    assert (otto.is_staff, otto.is_superuser) == (False, False)
    assert not otto.has_usable_password()


@pytest.mark.parametrize(
    "wrong",
    [
        {"iss": "https://elsewhere.example"},
        {"aud": "somebody-else"},
        {"nonce": "another"},
        {"nonce": None},
        {"sub": "1002"},
        {"exp": int(time.time()) - 3600},
    ],
    ids=["issuer", "audience", "nonce", "no nonce", "subject", "age"],
)
def test_an_id_token_that_is_not_for_here_and_now_is_refused(
    provider: OpenIdProvider, maya: User, wrong: dict[str, Any]
) -> None:
    connect(maya, provider)
    provider.claims = wrong
    client = Client()
    assert go(client, provider).status_code == 401
    assert signed_in_as(client) == ""


def test_an_id_token_that_somebody_else_signed_is_refused(
    provider: OpenIdProvider, maya: User
) -> None:
    connect(maya, provider)
    provider.key = OTHER_KEY
    client = Client()
    assert go(client, provider).status_code == 401
    assert signed_in_as(client) == ""


def test_userinfo_of_somebody_else_is_refused(provider: OpenIdProvider, maya: User) -> None:
    connect(maya, provider)
    provider.person, provider.userinfo = {"sub": "7"}, {"sub": "1001"}
    assert go(Client(), provider).status_code == 401


def test_a_state_of_another_session_or_of_before_is_refused(
    provider: OpenIdProvider, maya: User
) -> None:
    connect(maya, provider)
    assert go(Client(), provider, state="made-up").status_code == 401
    first, victim = Client(), Client()
    brought = provider.authorize(leave(first))
    assert victim.get(CALLBACK, brought).status_code == 401
    assert signed_in_as(victim) == ""
    assert first.get(CALLBACK, brought).status_code == 302
    assert first.get(CALLBACK, brought).status_code == 401


def test_a_code_that_is_not_the_providers_is_refused(provider: OpenIdProvider) -> None:
    assert go(Client(), provider, code="made-up").status_code == 401


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_mail_address_lets_nobody_into_anothers_account(
    provider: OpenIdProvider, maya: User, settings: Settings, verified: bool, is_open: bool
) -> None:
    EmailAddress.objects.create(user=maya, email=maya.email, verified=True, primary=True)
    settings.QUARRY_OIDC_SIGNUP = is_open
    provider.person = {
        "sub": "666",
        "preferred_username": "maya",
        "email": "maya@example.org",
        "email_verified": verified,
    }
    client = Client()
    answer = go(client, provider)
    assert signed_in_as(client) != "maya"
    assert not SocialAccount.objects.filter(user=maya).exists()
    if answer.status_code == 302:
        form = {"username": "maya", "email": "maya@example.org"}
        client.post("/accounts/3rdparty/signup/", form)
        assert signed_in_as(client) != "maya"
    assert list(EmailAddress.objects.filter(email=maya.email).values_list("user", flat=True)) == [
        maya.pk
    ]


def test_an_account_that_another_connected_is_not_taken_over(
    provider: OpenIdProvider, maya: User
) -> None:
    connect(maya, provider)
    otto = User.objects.create_user("otto", password=PASSWORD)
    connect(otto, provider)
    assert SocialAccount.objects.get().user == maya


def test_a_person_who_is_switched_off_stays_out(provider: OpenIdProvider, maya: User) -> None:
    connect(maya, provider)
    User.objects.update(is_active=False)
    client = Client()
    go(client, provider)
    assert signed_in_as(client) == ""


def test_it_is_asked_for_on_a_form_of_ours_and_asked_nothing_more(
    provider: OpenIdProvider,
) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.get(LOGIN).status_code == 200  # a page with a button
    assert client.post(LOGIN).status_code == 403
    forged = f"{LOGIN}?auth_params=redirect_uri=https://evil.example&scope=admin"
    provider.authorize(leave(Client(), forged))
    assert provider.asked["redirect_uri"] == f"http://testserver{CALLBACK}"
    assert set(provider.asked["scope"].split()) == {"openid", "profile", "email"}


def test_a_provider_that_does_not_answer_is_told(
    provider: OpenIdProvider, httpserver: HTTPServer
) -> None:
    httpserver.clear()
    assert Client().post(LOGIN).status_code == 401
    httpserver.clear_assertions()
    httpserver.clear_handler_errors()


def test_without_a_provider_there_is_no_such_page(client: Client, db: None) -> None:
    assert client.get(LOGIN).status_code == 404
    assert client.get(CALLBACK).status_code == 404
    assert b"single sign-on" not in client.get("/accounts/login/").content


def test_a_provider_without_a_client_id_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARRY_OIDC_URL", "https://id.example.org")
    with pytest.raises(ImproperlyConfigured, match="QUARRY_OIDC_CLIENT_ID"):
        env.oidc_providers()
