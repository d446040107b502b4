"""Limits of a token's own, set in the admin."""

from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from tests.support.library import Mint
from tokens.models import Token

PAGE = "admin:tokens_token_limits"


def test_an_admin_gives_a_token_limits_which_hold_from_the_next_call(
    admin_client: Client, mint: Mint
) -> None:
    token = mint()
    address = reverse(PAGE, args=[token.row.pk])
    shown = admin_client.get(address).content.decode()
    assert "add=60" in shown
    saved = admin_client.post(address, {"limits": "add=120\nsearch=5000"})
    page = reverse("admin:tokens_token_change", args=[token.row.pk])
    assert saved["Location"] == page
    told = token.client.get("/api/v1/whoami").json()["limits"]
    assert (told["add"]["limit"], told["search"]["limit"]) == (120, 5000)
    assert "add=120, search=5000" in admin_client.get(page).content.decode()
    assert "add=120\nsearch=5000" in admin_client.get(address).content.decode()
    admin_client.post(address, {"limits": ""})
    assert Token.objects.get(pk=token.row.pk).limits == {}


def test_wrong_limits_are_refused_with_the_reason(admin_client: Client, mint: Mint) -> None:
    token = mint()
    page = admin_client.post(reverse(PAGE, args=[token.row.pk]), {"limits": "adds=5"})
    assert "&#x27;adds&#x27; is no ask" in page.content.decode()
    assert Token.objects.get(pk=token.row.pk).limits == {}


def test_who_may_not_change_tokens_does_not_set_limits(client: Client, mint: Mint) -> None:
    token = mint()
    staff = User.objects.create_user("staff", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_token"))
    client.force_login(staff)
    address = reverse(PAGE, args=[token.row.pk])
    assert client.get(address).status_code == 403
    assert client.post(address, {"limits": "add=1000"}).status_code == 403
    assert Token.objects.get(pk=token.row.pk).limits == {}
