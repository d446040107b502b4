"""A new password by mail: for whoever reads the mailbox, once, and not for long."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

PASSWORD, NEW = "quarry-stone-42", "another-stone-43"
ADDRESS = "/accounts/password/reset/"


@pytest.fixture(autouse=True)
def mail_server(settings: Settings) -> None:
    settings.EMAIL_SERVER = {"host": "mail.example.org"}


@pytest.fixture
def maya(db: None) -> User:
    return User.objects.create_user("maya", "maya@example.org", PASSWORD)


def ask(email: str) -> str:
    """Ask for a link; the path of the one that was mailed, or nothing."""
    mail.outbox.clear()
    Client().post(ADDRESS, {"email": email})
    found = re.findall(rf"http://testserver({ADDRESS}key/\S+)", str(mail.outbox[0].body))
    return str(found[0]) if found else ""


def use(link: str, password: str = NEW) -> Any:
    """Open the link in a new browser and set a password."""
    browser = Client()
    page = browser.get(link, follow=True)
    if b"password1" not in page.content:
        return page
    form = {"password1": password, "password2": password}
    return browser.post(page.redirect_chain[-1][0], form, follow=True)


def signs_in(password: str) -> bool:
    answer = Client().post("/accounts/login/", {"login": "maya", "password": password})
    return bool(answer.status_code == 302)


def test_a_known_and_an_unknown_address_are_answered_alike(maya: User) -> None:
    answers = set()
    for address in ("maya@example.org", "nobody@example.org"):
        answer = Client().post(ADDRESS, {"email": address}, follow=True)
        answers.add((answer.content, tuple(answer.redirect_chain)))
    assert len(answers) == 1
    known, unknown = mail.outbox  # as many mails, so that both take as long
    assert known.to == ["maya@example.org"]
    assert "/key/" in known.body
    assert unknown.to == ["nobody@example.org"]
    assert "/key/" not in unknown.body


def test_the_link_sets_a_password_once(maya: User) -> None:
    link = ask("maya@example.org")
    assert b"password is now changed" in use(link).content
    assert signs_in(NEW)
    assert not signs_in(PASSWORD)
    assert b"Bad Token" in use(link, "third-stone-44").content
    assert not signs_in("third-stone-44")


def test_an_old_a_made_up_and_an_overtaken_link_are_refused(maya: User) -> None:
    link = ask("maya@example.org")
    with time_machine.travel(timezone.now() + timedelta(days=4), tick=True):
        assert b"Bad Token" in use(link).content
    assert b"Bad Token" in use(f"{link[:-4]}aaa/").content
    maya.set_password("changed-meanwhile-1")
    maya.save()
    assert b"Bad Token" in use(link).content
    assert signs_in("changed-meanwhile-1")


def test_the_sessions_of_the_account_end(maya: User) -> None:
    thief = Client()
    thief.post("/accounts/login/", {"login": "maya", "password": PASSWORD})
    assert thief.get("/connections/").status_code == 200
    use(ask("maya@example.org"))
    assert thief.get("/connections/").status_code == 302
    assert thief.get("/api/v1/tokens").status_code == 401


def test_a_weak_password_is_refused_and_the_link_still_works(maya: User) -> None:
    link = ask("maya@example.org")
    assert b"too common" in use(link, "password").content
    assert not signs_in("password")
    use(link)
    assert signs_in(NEW)


def test_the_secret_of_the_link_leaves_the_address(maya: User) -> None:
    page = Client().get(ask("maya@example.org"))
    assert page.headers["Location"].endswith("-set-password/")


def test_a_person_who_is_switched_off_gets_no_link(maya: User) -> None:
    User.objects.update(is_active=False)
    assert ask("maya@example.org") == ""


def test_asking_is_limited(maya: User) -> None:
    answers = [Client().post(ADDRESS, {"email": maya.email}).status_code for _ in range(6)]
    assert answers == [302] * 5 + [429]


def test_without_mail_the_page_says_whom_to_ask(client: Client, settings: Settings) -> None:
    settings.EMAIL_SERVER = {}
    page = client.get(ADDRESS)
    assert page.status_code == 200
    assert b"Ask an admin" in page.content
    client.post(ADDRESS, {"email": "maya@example.org"})
    assert mail.outbox == []


def test_a_mail_server_that_is_down_tells_nothing(
    maya: User, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    for address in ("maya@example.org", "nobody@example.org"):
        assert Client().post(ADDRESS, {"email": address}).status_code == 302
    assert caplog.text.count("could not be sent") == 2
