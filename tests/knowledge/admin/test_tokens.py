import json
import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from knowledge.errors import InvalidInput, InvalidToken
from knowledge.models import Folder
from tests.support.admin_pages import read_all, whole_database
from tests.support.library import Mint
from tests.support.rollback import each_case
from tokens.admin import tokens as tokens_admin
from tokens.authentication import authenticate
from tokens.models import Token
from tokens.secrets import is_well_formed
from tokens.single_use import new_form_id

ADD = "admin:tokens_token_add"
LIST = "admin:tokens_token_changelist"


def form_for(owner: User, **changes: Any) -> dict[str, Any]:
    return {
        "owner": owner.pk,
        "name": "Claude",
        "reach": "library",
        "folder_ids": [],
        "toolsets": ["library"],
        "expires_days": 30,
        "form_id": new_form_id(),
        **changes,
    }


def secret_in(answer: Any) -> str:
    page = unescape(answer.content.decode())
    words: list[str] = re.findall(r"qry_[\w-]{49}", page)
    return next(word for word in words if is_well_formed(word))


# Minting ---------------------------------------------------------------------------------


def test_minting_shows_a_secret_that_works(admin_client: Client, owner: User) -> None:
    answer = admin_client.post(reverse(ADD), form_for(owner, can_write="on", kb_only="on"))
    assert answer.status_code == 200
    token = authenticate(secret_in(answer))
    assert (token.owner, token.name) == (owner, "Claude")
    assert token.is_unscoped
    assert token.can_write
    assert token.kb_only
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)


def test_the_page_with_the_secret_is_not_to_be_kept_by_anyone(
    admin_client: Client, owner: User
) -> None:
    answer = admin_client.post(reverse(ADD), form_for(owner))
    assert "no-store" in answer.headers["Cache-Control"]


def test_the_page_with_the_secret_has_configuration_for_this_address(
    admin_client: Client, owner: User
) -> None:
    answer = admin_client.post(reverse(ADD), form_for(owner), headers={"host": "localhost:8123"})
    page, secret = unescape(answer.content.decode()), secret_in(answer)
    assert (
        "claude mcp add --transport http quarry http://localhost:8123/mcp "
        f'--header "Authorization: Bearer {secret}"' in page
    )
    block = page[page.index('{\n  "mcpServers"') :].split("</pre>")[0]
    server = json.loads(block)["mcpServers"]["quarry"]
    assert server["url"] == "http://localhost:8123/mcp"
    assert server["headers"] == {"Authorization": f"Bearer {secret}"}


def test_the_secret_is_nowhere_once_it_was_shown(
    admin_client: Client, owner: User, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        secret = secret_in(admin_client.post(reverse(ADD), form_for(owner)))
        pages = read_all(admin_client)
    assert Token.objects.filter(name="Claude").exists()
    for where, text in {
        **pages,
        "database": whole_database(),
        "session": str(dict(admin_client.session)),
        "cookies": str(admin_client.cookies),
        "logs": caplog.text + str([vars(line) for line in caplog.records]),
    }.items():
        assert secret not in text, where
        assert secret[12:40] not in text, where


def test_a_form_that_is_sent_again_mints_nothing_and_shows_nothing(
    admin_client: Client, owner: User
) -> None:
    form = form_for(owner)
    secret = secret_in(admin_client.post(reverse(ADD), form))
    again = admin_client.post(reverse(ADD), form, follow=True)
    assert again.redirect_chain == [(reverse(LIST), 302)]
    page = again.content.decode()
    assert "has already minted its token" in page
    assert secret not in page
    assert Token.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_twice_at_once_mints_one_token(
    admin_client: Client, owner: User
) -> None:
    form = form_for(owner)

    def send(_: int) -> int:
        try:
            return admin_client.post(reverse(ADD), form).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        answers = sorted(threads.map(send, range(4)))
    assert answers == [200, 302, 302, 302]
    assert Token.objects.count() == 1


def test_a_form_older_than_a_day_is_refused(
    admin_client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokens.single_use._LIVES_SEC", -1)
    answer = admin_client.post(reverse(ADD), form_for(owner))
    assert "too old" in answer.content.decode()
    assert not Token.objects.exists()


def test_a_token_for_folders_reaches_just_those(
    admin_client: Client, owner: User, folder: Callable[[str], Folder]
) -> None:
    kept, _ = folder("Kept"), folder("Other")
    form = form_for(owner, reach="folders", folder_ids=[kept.pk])
    token = authenticate(secret_in(admin_client.post(reverse(ADD), form)))
    assert token.access.folder_ids == frozenset({kept.pk})


@each_case(
    "changes, complaint",
    [
        ({"reach": "folders"}, "Choose at least one folder, or the whole library."),
        ({"name": "  "}, "This field is required."),
        ({"toolsets": []}, "Choose at least one group of tools."),
        ({"toolsets": ["root"]}, "Select a valid choice."),
        ({"expires_days": 0}, "greater than or equal to 1"),
        ({"expires_days": 100_000}, "less than or equal to 3650"),
        ({"reach": "everything"}, "Select a valid choice."),
        ({"form_id": "forged"}, "This form is too old."),
        ({"form_id": ""}, "This form is too old."),
        ({"name": "a\x00b"}, "Null characters are not allowed."),
    ],
)
def test_a_wrong_form_comes_back_with_the_reason(
    admin_client: Client, owner: User, changes: dict[str, Any], complaint: str
) -> None:
    answer = admin_client.post(reverse(ADD), form_for(owner, **changes))
    assert answer.status_code == 200
    assert complaint in unescape(answer.content.decode())
    assert not Token.objects.exists()


def test_the_folder_of_somebody_else_is_refused(
    admin_client: Client, stranger: User, folder: Callable[[str], Folder]
) -> None:
    form = form_for(stranger, reach="folders", folder_ids=[folder("Ada's").pk])
    answer = admin_client.post(reverse(ADD), form)
    assert "Not a folder of eve: Ada's." in unescape(answer.content.decode())
    assert not Token.objects.exists()


def test_the_whole_library_and_folders_together_are_refused(
    admin_client: Client, owner: User, folder: Callable[[str], Folder]
) -> None:
    answer = admin_client.post(reverse(ADD), form_for(owner, folder_ids=[folder("One").pk]))
    assert "not both" in answer.content.decode()
    assert not Token.objects.exists()


def test_a_refused_ask_is_an_error_of_the_form_and_the_form_may_be_sent_again(
    admin_client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise InvalidInput("The name is taken by a comet.", field="name")

    form = form_for(owner)
    with monkeypatch.context() as patched:
        patched.setattr(tokens_admin, "mint_token", refuse)
        answer = admin_client.post(reverse(ADD), form)
    assert "The name is taken by a comet." in answer.content.decode()
    assert 'value="Claude"' in answer.content.decode()
    authenticate(secret_in(admin_client.post(reverse(ADD), form)))


def test_a_link_cannot_choose_what_a_new_token_reaches(admin_client: Client) -> None:
    page = admin_client.get(reverse(ADD), {"reach": "library", "name": "trap"}).content.decode()
    assert 'value="folders" class' in page
    assert 'value="trap"' not in page


# Afterwards ------------------------------------------------------------------------------


def test_a_token_is_never_changed_or_deleted(admin_client: Client, mint: Mint) -> None:
    token = mint(write=False).row
    change = reverse("admin:tokens_token_change", args=[token.pk])
    assert admin_client.post(change, {"can_write": "on"}).status_code == 403
    delete = reverse("admin:tokens_token_delete", args=[token.pk])
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [token.pk], "post": "yes"}
    admin_client.post(reverse(LIST), chosen)
    token.refresh_from_db()
    assert not token.can_write


def test_revoking_asks_first_and_holds_from_the_next_call(admin_client: Client, mint: Mint) -> None:
    minted = mint()
    revoke = reverse("admin:tokens_token_revoke", args=[minted.row.pk])
    assert "cannot be undone" in admin_client.get(revoke).content.decode()
    authenticate(minted.secret)
    page = admin_client.post(revoke, follow=True).content.decode()
    assert "Revoked: agent" in page
    assert f'href="{revoke}"' not in page
    with pytest.raises(InvalidToken, match="revoked"):
        authenticate(minted.secret)


def test_several_tokens_are_revoked_after_one_confirmation(
    admin_client: Client, mint: Mint
) -> None:
    gone, kept = [mint(), mint()], mint()
    chosen = {"action": "revoke_selected", "_selected_action": [each.row.pk for each in gone]}
    assert "cannot be undone" in admin_client.post(reverse(LIST), chosen).content.decode()
    for each in gone:
        authenticate(each.secret)
    admin_client.post(reverse(LIST), {**chosen, "confirmed": "yes"})
    for each in gone:
        with pytest.raises(InvalidToken):
            authenticate(each.secret)
    authenticate(kept.secret)


def test_tokens_are_filtered_by_the_state_they_are_in(
    admin_client: Client, mint: Mint, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    tokens = {"active": mint(), "expired": mint(), "revoked": mint(), "folderless": mint(shelf)}
    for name, minted in tokens.items():
        Token.objects.filter(pk=minted.row.pk).update(name=name)
    Token.objects.filter(name="expired").update(expires_at=timezone.now())
    Token.objects.filter(name="revoked").revoke()
    shelf.delete()
    for state in ("active", "expired", "revoked"):
        listed = admin_client.get(reverse(LIST), {"state": state}).context["cl"].queryset
        assert {token.name for token in listed} == {
            token.name for token in Token.objects.all() if token.state == state
        }


@pytest.mark.parametrize("action", ["change", "revoke", "activity"])
def test_an_address_of_no_token_is_not_a_failure(admin_client: Client, action: str) -> None:
    answer = admin_client.get(reverse(f"admin:tokens_token_{action}", args=["nonsense"]))
    assert answer.status_code in (302, 404)


def test_a_token_leads_to_what_it_did(admin_client: Client, mint: Mint) -> None:
    minted, other = mint(), mint()
    minted.client.get("/api/v1/whoami")
    other.client.get("/api/v1/folders")
    activity = reverse("admin:tokens_token_activity", args=[minted.row.pk])
    events = admin_client.get(activity, follow=True).context["cl"].queryset
    assert [event.action for event in events] == ["whoami"]
