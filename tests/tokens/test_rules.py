"""SPEC 2, rule by rule, where the both-edges table does not say it already."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from knowledge.errors import InvalidInput, OutOfScope
from knowledge.models import Folder
from tests.support.library import Add, Mint
from tokens.minting import TokenRequest, mint_token
from tokens.models import Event, Token

MakeFolder = Callable[[str], Folder]


def test_the_secret_is_nowhere_in_the_database(mint: Mint) -> None:
    minted = mint()
    row = Token.objects.filter(pk=minted.row.pk).values().get()
    assert minted.secret not in str(row)
    assert minted.row.prefix == minted.secret[:10]


def test_a_token_lives_a_year_unless_told_otherwise(owner: User) -> None:
    token, _ = mint_token(owner, TokenRequest(name="a", folder_ids=None))
    assert abs(token.expires_at - timezone.now() - timedelta(days=365)) < timedelta(minutes=1)
    token, _ = mint_token(owner, TokenRequest(name="a", folder_ids=None, expires_days=3))
    assert abs(token.expires_at - timezone.now() - timedelta(days=3)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"expires_days": 0},
        {"toolsets": ["magic"]},
        {"toolsets": []},
        {"folder_ids": []},
    ],
)
def test_a_malformed_request_mints_nothing(owner: User, change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        mint_token(owner, TokenRequest(**{"name": "a", "folder_ids": None} | change))  # type: ignore[arg-type]
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("Code Reviewer", "ada/code-reviewer"),
        ("评审员", "ada/评审员"),
        ("Ревьюер", "ada/ревьюер"),
        ("🤖", "ada/b0d12518"),
        ("!!!", "ada/e84c538e"),
        ("रमेश", "ada/रमश-e20fee47"),
    ],
)
def test_an_agent_is_known_by_its_owner_and_name(mint: Mint, name: str, agent: str) -> None:
    token = mint(name=name, toolsets=["registry"])
    assert token.row.agent_id == agent
    told = token.client.get(f"/api/v1/reputation/{agent}").json()
    assert (told["agent_id"], told["score"]) == (agent, 0)


@pytest.mark.parametrize(
    "names",
    [
        ("评审员", "翻译员", "评审员二"),
        ("🤖", "🦾", "agent"),
        ("राम", "रमा", "रम"),
        ("x" * 99, "x" * 98 + "y", "ﷺ" * 99, "ﷺ" * 100),
    ],
    ids=["Chinese", "emoji", "vowel signs", "long"],
)
def test_agents_of_other_names_are_others_however_long(db: None, names: tuple[str, ...]) -> None:
    owner = User.objects.create_user("a" * 150)
    requests = [TokenRequest(name=name, folder_ids=None) for name in names]
    known = {mint_token(owner, request)[0].agent_id for request in requests}
    assert len(known) == len(names)
    assert max(map(len, known)) <= 200


def test_another_owners_folder_cannot_be_put_in_a_scope(folder: MakeFolder, stranger: User) -> None:
    with pytest.raises(OutOfScope):
        mint_token(stranger, TokenRequest(name="a", folder_ids=[folder("Mine").pk]))
    assert not Token.objects.exists()


def test_revocation_and_expiry_hold_from_the_next_call(mint: Mint) -> None:
    minted = mint()
    assert minted.client.get("/api/v1/whoami").status_code == 200
    Token.objects.filter(pk=minted.row.pk).revoke()
    refused = minted.client.get("/api/v1/whoami")
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_token")
    assert "revoked" in refused.json()["message"]
    assert refused["WWW-Authenticate"].startswith("Bearer")

    minted = mint()
    Token.objects.filter(pk=minted.row.pk).update(expires_at=timezone.now())
    assert "expired" in minted.client.get("/api/v1/whoami").json()["message"]


def test_a_token_of_an_inactive_owner_is_dead(mint: Mint, owner: User) -> None:
    minted = mint()
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert minted.client.get("/api/v1/whoami").status_code == 401


def test_deleting_the_last_folder_revokes_and_a_new_one_does_not_revive(
    mint: Mint, folder: MakeFolder
) -> None:
    shelf = folder("Shelf")
    minted = mint(shelf)
    assert mint().client.delete(f"/api/v1/folders/{shelf.pk}").status_code == 204
    refused = minted.client.get("/api/v1/items")
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_token")
    minted.row.folders.add(folder("Other"))
    assert minted.client.get("/api/v1/items").status_code == 401


def test_no_credential_and_a_wrong_one_are_401(client: Client, db: None) -> None:
    missing = client.get("/api/v1/items")
    assert (missing.status_code, missing.json()["error"]) == (401, "missing_bearer_token")
    for header in ("Basic abc", "Bearer", "Bearer qry_nonsense", "qry_nonsense"):
        wrong = client.get("/api/v1/items", headers={"authorization": header})
        assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_token")


def test_a_session_is_no_token_and_a_token_no_session(
    client: Client, owner: User, mint: Mint
) -> None:
    client.force_login(owner)
    assert client.get("/api/v1/items").status_code == 401
    assert client.get("/api/v1/tokens").status_code == 200
    answer = mint().client.post(
        "/api/v1/tokens", {"name": "more", "is_unscoped": True}, format="json"
    )
    assert (answer.status_code, answer.json()["error"]) == (403, "capability_denied")
    assert Client().get("/api/v1/tokens").status_code == 401


def test_a_person_mints_sees_and_revokes_their_own_tokens(
    owner: User, stranger: User, folder: MakeFolder
) -> None:
    shelf = folder("Shelf")
    person = APIClient()
    person.force_login(owner)
    asked = {"name": "Reader", "folder_ids": [str(shelf.pk)], "expires_days": 30}
    made = person.post("/api/v1/tokens", asked, format="json")
    assert made.status_code == 201
    assert made.json()["token"].startswith("qry_")
    listed = person.get("/api/v1/tokens")
    assert made.json()["token"] not in listed.content.decode()
    assert listed.json()["tokens"][0]["folder_ids"] == [str(shelf.pk)]

    other = APIClient()
    other.force_login(stranger)
    route = f"/api/v1/tokens/{made.json()['id']}"
    assert other.get("/api/v1/tokens").json() == {"tokens": []}
    assert other.delete(route).status_code == 404
    assert person.delete(route).status_code == 204
    assert person.get("/api/v1/tokens").json()["tokens"][0]["state"] == "revoked"


def test_a_session_post_needs_its_csrf_token(owner: User) -> None:
    person = APIClient(enforce_csrf_checks=True)
    person.force_login(owner)
    refused = person.post("/api/v1/tokens", {"name": "x", "is_unscoped": True}, format="json")
    assert refused.status_code == 403
    assert not Token.objects.exists()


def test_whoami_tells_a_token_what_it_is_and_has_left(mint: Mint, folder: MakeFolder) -> None:
    shelf = folder("Shelf")
    reader = mint(shelf, write=False, kb_only=True)
    reader.client.get("/api/v1/search", {"query": "x"})
    told = reader.client.get("/api/v1/whoami").json()
    assert told["name"] == "agent"
    assert told["agent_id"] == "ada/agent"
    assert told["capabilities"] == ["read"]
    assert told["toolsets"] == ["library", "memory", "registry"]
    assert told["is_unscoped"] is False
    assert told["folders"] == [{"id": str(shelf.pk), "name": "Shelf"}]
    assert told["kb_only"] is True
    assert told["limits"]["search"]["limit"] == 1000
    assert told["limits"]["search"]["remaining"] == 999
    assert "add" not in told["limits"]
    assert told["quota"]["transcription_minutes"]["used"] == 0


def test_every_call_is_recorded_without_secret_or_text(mint: Mint, add: Add) -> None:
    item = add("Diary", "dear diary, the vault code is 4711")
    minted = mint()
    minted.client.get(f"/api/v1/items/{item.pk}")
    minted.client.get("/api/v1/search", {"query": "vault code"})
    minted.client.get("/api/v1/items/11111111-1111-1111-1111-111111111111")
    events = list(Event.objects.order_by("at").values("action", "target", "outcome", "edge"))
    assert events == [
        {"action": "get_item", "target": str(item.pk), "outcome": "ok", "edge": "rest"},
        {"action": "search", "target": "", "outcome": "ok", "edge": "rest"},
        {
            "action": "get_item",
            "target": "11111111-1111-1111-1111-111111111111",
            "outcome": "not_found",
            "edge": "rest",
        },
    ]
    everything = str(list(Event.objects.values()))
    assert minted.secret not in everything
    assert "vault" not in everything
