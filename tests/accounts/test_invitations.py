"""Invitations: a link that lets one person in, once."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.invitations import invite
from accounts.models import Invitation

PASSWORD = "quarry-stone-42"


def link(**wishes: Any) -> str:
    return invite(None, **wishes)[1]


def test_a_link_makes_an_account_and_signs_it_in(client: Client, db: None) -> None:
    path = link()
    assert b"Welcome to Quarry" in client.get(path).content
    answer = client.post(path, {"username": "maya", "password": PASSWORD})
    assert answer.status_code == 302
    maya = User.objects.get(username="maya")
    assert not maya.is_staff
    assert not maya.is_superuser
    assert b"Connections" in client.get("/connections/").content
    assert client.get("/admin/").status_code in (302, 403)


def test_a_link_works_once_and_an_old_or_made_up_one_never(client: Client, db: None) -> None:
    path = link()
    client.post(path, {"username": "maya", "password": PASSWORD})
    other = Client()
    assert other.get(path).status_code == 404
    taken = other.post(path, {"username": "eve", "password": PASSWORD})
    assert taken.status_code == 404
    assert not User.objects.filter(username="eve").exists()
    late = link(days=1)
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        assert other.get(late).status_code == 404
    assert other.get("/accounts/invitations/made-up").status_code == 404


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"username": "maya", "password": "short"}, "at least 8"),
        ({"username": "maya", "password": "password"}, "too common"),
        ({"username": "maya", "password": "12345678901"}, "entirely numeric"),
        ({"username": "", "password": PASSWORD}, "required"),
        ({"username": "ma ya", "password": PASSWORD}, "valid username"),
        ({"username": "ADMIN", "password": PASSWORD}, "taken"),
    ],
)
def test_what_is_wrong_is_told_and_the_link_still_works(
    client: Client, admin_user: User, form: dict[str, str], told: str
) -> None:
    path = link()
    answer = client.post(path, form)
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert Invitation.objects.get().state == "open"
    assert PASSWORD not in answer.content.decode()


def test_a_link_for_an_admin_makes_an_admin(client: Client, db: None) -> None:
    client.post(link(is_admin=True), {"username": "root2", "password": PASSWORD})
    assert User.objects.get(username="root2").is_superuser


def test_a_link_of_somebody_sets_their_password_alone(client: Client, admin_user: User) -> None:
    path = link(person=admin_user)
    assert b"username" not in client.get(path).content
    client.post(path, {"username": "eve", "password": PASSWORD})
    admin_user.refresh_from_db()
    assert admin_user.check_password(PASSWORD)
    assert User.objects.count() == 1


def test_the_secret_of_a_link_is_not_stored(db: None) -> None:
    path = link()
    assert path.rpartition("/")[2] not in str(Invitation.objects.values().get())


def test_the_command_prints_a_link(db: None, capsys: Any, settings: Any) -> None:
    settings.QUARRY_PUBLIC_URL = "https://kb.example.org"
    call_command("invite")
    assert re.fullmatch(
        r"https://kb.example.org/accounts/invitations/\S{43}\n", capsys.readouterr().out
    )
    with pytest.raises(CommandError, match="mail address"):
        call_command("invite", email="nobody")
    with pytest.raises(CommandError, match="between 1 and 90"):
        call_command("invite", days=1000)
    with pytest.raises(CommandError, match="nobody"):
        call_command("invite", reset="nobody")


def test_the_command_mails_it_where_mail_is_set_up(db: None, settings: Any) -> None:
    call_command("invite", email="maya@example.org")
    assert mail.outbox == []
    settings.EMAIL_SERVER = {"host": "mail.example.org"}
    call_command("invite", email="maya@example.org")
    [sent] = mail.outbox
    assert sent.to == ["maya@example.org"]
    assert "/accounts/invitations/" in sent.body


def test_a_link_that_cannot_be_mailed_is_shown_all_the_same(
    admin_client: Client, settings: Any, capsys: Any
) -> None:
    settings.EMAIL_SERVER = {"host": "127.0.0.1"}
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    call_command("invite", email="maya@example.org")
    told = capsys.readouterr()
    assert "/accounts/invitations/" in told.out
    assert "Hand it over yourself" in told.err
    form = {"email": "maya@example.org", "person": "", "days": "7"}
    page = admin_client.post("/admin/accounts/invitation/add/", form).content.decode()
    assert "/accounts/invitations/" in page
    assert "It was not mailed" in page


def test_the_admin_shows_a_link_once(admin_client: Client) -> None:
    form = {"email": "", "person": "", "days": "7"}
    page = admin_client.post("/admin/accounts/invitation/add/", form)
    assert page.status_code == 200
    [path] = set(
        re.findall(r"http://testserver(/accounts/invitations/\S{43})", page.content.decode())
    )
    assert Client().get(path).status_code == 200
    assert path not in admin_client.get("/admin/accounts/invitation/").content.decode()
