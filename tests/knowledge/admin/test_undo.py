"""Undoing a token's writes from its page."""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from knowledge.access import Access
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import delete_item
from knowledge.models import Change, Item
from tests.support.admin import HOSTILE, make_staff
from tests.support.library import Add, Mint, Minted
from tests.support.undo import added, snapshot

HIDDEN = re.compile(r'name="(since|until)" value="([^"]+)"')


@pytest.fixture
def grant(owner: User) -> Callable[..., User]:
    """The owner as staff who may do just these things."""
    return partial(make_staff, owner)


def address(token: Minted) -> str:
    return reverse("admin:tokens_token_undo", args=[token.row.pk])


def page_of(client: Client, token: Minted, **asked: str) -> str:
    answer = client.get(address(token), asked)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def span_on(page: str) -> dict[str, str]:
    return dict(HIDDEN.findall(page))


def test_the_page_shows_what_will_be_undone_and_changes_nothing(
    admin_client: Client, mint: Mint, add: Add, library: Access
) -> None:
    token, kept = mint(), add("Kept")
    added(token.access, "Agent's")
    update_item(token.access, kept.pk, ItemChanges(title="Spoilt"))
    update_item(library, kept.pk, ItemChanges(title="By hand"))
    before = snapshot()
    page = page_of(admin_client, token)
    assert "item added: Agent's" in page
    assert "item changed: Spoilt. It was changed by somebody else since." in page
    assert "Will be undone: 1" in page
    assert "Will not be undone: 1" in page
    assert "Revoke it first" in page
    assert snapshot() == before


def test_titles_that_an_agent_wrote_are_never_markup(admin_client: Client, mint: Mint) -> None:
    token = mint()
    added(token.access, f"Title {HOSTILE}")
    page = admin_client.get(address(token)).content.decode()
    assert "Title &lt;script&gt;" in page
    assert HOSTILE not in page
    told = admin_client.post(address(token), span_on(unescape(page)), follow=True)
    assert HOSTILE not in told.content.decode()


def test_one_click_undoes_what_was_shown_and_nothing_newer(
    admin_client: Client, mint: Mint, add: Add
) -> None:
    token, gone = mint(), add("Deleted by the agent")
    before = snapshot()
    delete_item(token.access, gone.pk)
    added(token.access, "Agent's")
    span = span_on(page_of(admin_client, token))
    later = added(token.access, "Added while the page was open")
    answer = admin_client.post(address(token), span, follow=True)
    assert answer.redirect_chain == [
        (reverse("admin:tokens_token_change", args=[token.row.pk]), 302)
    ]
    assert "Undone: 2." in answer.content.decode()
    assert LogEntry.objects.get().change_message == "Undone: 2. Left: 0."
    delete_item(Access.whole_library(gone.owner_id), later.pk)
    assert snapshot() == before


def test_what_is_left_is_named_with_its_reason(
    admin_client: Client, mint: Mint, library: Access
) -> None:
    token = mint()
    item = added(token.access, "Agent's")
    span = span_on(page_of(admin_client, token))
    update_item(library, item.pk, ItemChanges(tags=["kept"]))
    page = admin_client.post(address(token), span, follow=True).content.decode()
    assert "item added: Agent&#x27;s (It was changed by somebody else since.)" in page
    assert Item.objects.filter(pk=item.pk).exists()


def test_one_chooses_how_far_back(admin_client: Client, mint: Mint) -> None:
    token = mint()
    added(token.access, "Long ago")
    Change.objects.update(at=timezone.now() - timedelta(hours=5))
    assert "Will be undone: 0" in page_of(admin_client, token)
    assert "Will be undone: 1" in page_of(admin_client, token, hours="24")
    assert "Will be undone: 0" in page_of(admin_client, token, hours="nonsense")


def test_a_post_without_a_span_undoes_nothing(admin_client: Client, mint: Mint) -> None:
    token = mint()
    added(token.access, "Agent's")
    for span in ({}, {"since": "yesterday", "until": "now"}, {"since": "2026-01-01"}):
        answer = admin_client.post(address(token), span)
        assert answer.headers["Location"] == address(token)
    assert Item.objects.count() == 1


def test_only_who_may_change_and_delete_items_may_undo(
    client: Client, mint: Mint, grant: Callable[..., User]
) -> None:
    token = mint()
    added(token.access, "Agent's")
    client.force_login(grant("view_token", "change_token", "change_item"))
    page = reverse("admin:tokens_token_change", args=[token.row.pk])
    assert address(token) not in client.get(page).content.decode()
    assert client.get(address(token)).status_code == 403
    assert client.post(address(token)).status_code == 403
    client.force_login(grant("view_token", "change_token", "change_item", "delete_item"))
    assert address(token) in client.get(page).content.decode()
    assert client.get(address(token)).status_code == 200


def test_a_token_that_may_not_write_has_nothing_to_undo(admin_client: Client, mint: Mint) -> None:
    reader = mint(write=False)
    page = reverse("admin:tokens_token_change", args=[reader.row.pk])
    assert address(reader) not in admin_client.get(page).content.decode()
