from collections.abc import Callable
from html import unescape

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from knowledge.models import Folder
from tests.support.admin import make_staff
from tests.support.admin_pages import page_of, sent
from tests.support.library import Add, Mint, Minted
from tokens.minting import revoke_token
from tokens.models import Event

SEES = "admin:tokens_token_sees"


def words_in(page: str, mark: str) -> str:
    return page.partition(f"data-{mark}>")[2].partition("</ul>" if mark != "hits" else "</ol>")[0]


def searched(client: Client, token: Minted, query: str) -> str:
    page = sent(client, SEES, token.row.pk, query=query, mode="keyword")
    return words_in(page, "hits")


def test_the_page_lists_what_the_token_reaches_and_nothing_else(
    admin_client: Client, mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf, other = folder("Research"), folder("Recipes")
    add("Consent", "", shelf)
    add("Pudding", "", other)
    page = page_of(admin_client, SEES, mint(shelf).row.pk)
    assert "Research" in words_in(page, "folders")
    assert "1 item" in words_in(page, "folders")
    assert "Recipes" not in page
    assert "Consent" in words_in(page, "newest")
    assert "Pudding" not in page


def test_a_search_as_the_token_finds_what_the_token_finds(
    admin_client: Client, mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Research")
    add("Consent", "A walrus signs the form.", shelf)
    add("Pudding", "A walrus eats the pudding.")
    assert "Consent" in searched(admin_client, mint(shelf), "walrus")
    assert "Pudding" not in searched(admin_client, mint(shelf), "walrus")
    assert "Pudding" in searched(admin_client, mint(), "walrus")


def test_a_search_as_the_token_is_the_persons_act_and_not_the_tokens(
    admin_client: Client, admin_user: User, mint: Mint, add: Add
) -> None:
    token = mint()
    add("Consent", "A walrus signs the form.")
    searched(admin_client, token, "walrus")
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id) == (admin_user, str(token.row.pk))
    assert entry.get_change_message() == "Searched as this token."
    assert not Event.objects.exists()
    token.row.refresh_from_db()
    assert token.row.last_used_at is None


def test_a_revoked_token_sees_nothing(admin_client: Client, mint: Mint, add: Add) -> None:
    token = mint()
    add("Consent", "A walrus signs the form.")
    revoke_token(token.row.owner_id, token.row.pk)
    page = sent(admin_client, SEES, token.row.pk, query="walrus", mode="keyword")
    assert "it sees nothing" in page
    assert "Consent" not in page


def test_whoever_may_not_view_items_does_not_see_them_through_a_token(
    client: Client, owner: User, mint: Mint, add: Add
) -> None:
    token = mint()
    add("Consent")
    address = reverse(SEES, args=[token.row.pk])
    client.force_login(make_staff(owner, "view_token"))
    assert client.get(address).status_code == 403
    client.force_login(make_staff(owner, "view_token", "view_item"))
    assert "Consent" in unescape(client.get(address).content.decode())
