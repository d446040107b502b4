import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from knowledge.models import Generation, Item, Job
from tests.support.admin import HOSTILE, make_staff
from tests.support.admin_pages import read_all
from tests.support.library import Mint
from tokens.models import Event, Token


def test_every_page_opens_and_shows_neither_markup_nor_secrets(
    admin_client: Client, full_house: Item, admin_user: User
) -> None:
    """With data in every table, and markup wherever a person or an agent may write."""
    for model in admin.site._registry:
        assert model._default_manager.exists(), model
    pages = read_all(admin_client)
    assert reverse("admin:knowledge_item_change", args=[full_house.pk]) in pages
    assert reverse("admin:tokens_token_add") in pages
    assert [address for address, page in pages.items() if HOSTILE in page] == []
    assert any("&lt;script&gt;alert(" in page for page in pages.values())
    assert not any('href="javascript:' in page for page in pages.values())
    hidden = [*Token.objects.values_list("digest", flat=True), admin_user.password.split("$")[-1]]
    for address, page in pages.items():
        assert not any(value[:8] in page for value in hidden), address


def test_a_search_for_markup_does_not_echo_it(admin_client: Client, full_house: Item) -> None:
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        answer = admin_client.get(reverse(name), {"q": HOSTILE})
        assert answer.status_code == 200, model
        assert HOSTILE not in answer.content.decode(), model


@pytest.mark.parametrize("model", [Event, Generation, Job])
def test_records_can_be_looked_at_and_nothing_else(
    admin_client: Client, full_house: Item, model: type[Event | Generation | Job]
) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    row = model._default_manager.first()
    assert row is not None
    for address in (
        reverse(f"{name}_add"),
        reverse(f"{name}_change", args=[row.pk]),
        reverse(f"{name}_delete", args=[row.pk]),
    ):
        assert admin_client.post(address, {"post": "yes"}).status_code == 403
    row.refresh_from_db()


def test_a_stranger_is_sent_to_the_login_page(client: Client, full_house: Item) -> None:
    answer = client.get(reverse("admin:tokens_token_add"))
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(reverse("admin:login"))


def test_staff_open_only_what_they_were_granted(client: Client, owner: User, mint: Mint) -> None:
    token = mint().row
    client.force_login(make_staff(owner, "view_token"))
    change = reverse("admin:tokens_token_change", args=[token.pk])
    assert client.get(change).status_code == 200
    assert client.get(reverse("admin:tokens_token_add")).status_code == 403
    assert client.post(reverse("admin:tokens_token_revoke", args=[token.pk])).status_code == 403
    assert client.get(reverse("admin:knowledge_item_changelist")).status_code == 403
    index = client.get(reverse("admin:index")).content.decode()
    assert reverse("admin:tokens_token_changelist") in index
    assert reverse("admin:knowledge_item_changelist") not in index
    token.refresh_from_db()
    assert token.state == "active"


def test_staff_who_may_only_look_see_the_same_and_change_nothing(
    client: Client, owner: User, full_house: Item
) -> None:
    views = Permission.objects.filter(codename__startswith="view_")
    client.force_login(make_staff(owner, *views.values_list("codename", flat=True)))
    pages = read_all(client)
    item = pages[reverse("admin:knowledge_item_change", args=[full_house.pk])]
    assert "Own &lt;script&gt;" in item
    assert "Shelf &lt;script&gt;" in item
    assert not [address for address in pages if address.endswith(("/add/", "/delete/", "/revoke/"))]
    for address in pages:
        assert client.post(address, {"title": "Mine", "post": "yes"}).status_code in (200, 302, 403)
    full_house.refresh_from_db()
    assert full_house.title.startswith("Own")


def test_the_first_page_leads_to_every_section_in_order(admin_client: Client) -> None:
    page = admin_client.get(reverse("admin:index")).content.decode()
    places = [
        page.index(f'href="{reverse(f"admin:{name}_changelist")}"')
        for name in ("knowledge_item", "knowledge_folder", "tokens_token", "knowledge_job")
    ]
    assert places == sorted(places)
