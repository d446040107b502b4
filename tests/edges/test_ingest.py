"""Links and what becomes of them over both edges, and no side door past a token's reach."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import dramatiq
import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from werkzeug import Response

from knowledge import providers
from knowledge.access import Access
from knowledge.api.errors import STATUSES
from knowledge.errors import IngestFailed, QuarryError
from knowledge.ledger import webhooks
from knowledge.models import Content, Folder, Item, Transform, Upload, Webhook
from knowledge.providers.fake import FakeTranscriber
from mcp_gateway.calls import call_tool
from mcp_gateway.errors import error_data
from mcp_gateway.identity import Caller
from tests.support.adding import add_link, rows, run_jobs, serve_recording
from tests.support.edges import (
    DEAD,
    MISSING,
    SEES,
    SHAPES,
    World,
    made_world,
    over_mcp,
    over_rest,
)
from tests.support.library import Add, Mint, Minted
from tests.support.pages import ARTICLE, CHALLENGE, LOGIN, SCRIPTED, serve_page
from tests.support.rollback import each_case

LIVING = sorted(set(SHAPES) - DEAD)
SCOPED = ["one_folder", "two_folders", "kb_only", "kb_only_folder", "stranger"]


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.QUARRY_HOME = tmp_path
    return tmp_path


@pytest.fixture
def world(
    library: Access,
    stranger: User,
    mint: Mint,
    add: Add,
    folder: Callable[[str], Folder],
) -> World:
    return made_world(library, stranger, mint, add, folder)


# Adding a link ----------------------------------------------------------------------------


@each_case("shape", SHAPES)
def test_a_link_is_added_filed_and_shown_by_the_same_rule(
    world: World, site: HTTPServer, shape: str
) -> None:
    site.clear_log()
    token = world.tokens[shape]
    body = {"kind": "url", "url": serve_page(site, "/rivers", ARTICLE), "in_kb": False}
    rest = over_rest(token, "POST", "ingest", **body)
    mcp = over_mcp(token, "add_to_knowledge", **body)
    if shape in DEAD | {"read_only"}:
        assert rest == mcp
        assert rest[0] == ("capability_denied" if shape == "read_only" else "invalid_token")
        assert not site.log
        return
    assert rest == mcp  # the second is the same item again
    item = Item.objects.get(pk=rest[1]["user_item_id"])
    one = shape in ("one_folder", "kb_only_folder")
    assert rest[1]["folder_id"] == (str(world.folders["A"].pk) if one else None)
    assert [str(f.pk) for f in item.folders.all()] == ([rest[1]["folder_id"]] if one else [])
    assert item.in_kb is shape.startswith("kb_only")
    for other in LIVING:
        sees = over_mcp(world.tokens[other], "get_item", item_id=str(item.pk))[0]
        assert sees == over_rest(world.tokens[other], "GET", f"items/{item.pk}")[0]
        assert (sees == "ok") is _may_see(item, world, adder=shape, other=other)


def _may_see(item: Item, world: World, *, adder: str, other: str) -> bool:
    if item.owner_id != world.tokens[other].row.owner_id:
        return False
    if other.startswith("kb_only") and not item.in_kb:
        return False
    if other in ("whole", "read_only", "kb_only", adder):
        return True
    return adder in ("one_folder", "kb_only_folder")  # filed in A, which all the others reach


@each_case("shape", ["one_folder", "two_folders", "kb_only_folder", "stranger"])
def test_adding_what_others_have_tells_nothing_of_their_items(
    world: World, site: HTTPServer, shape: str
) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    before = over_rest(world.tokens["whole"], "POST", "ingest", kind="url", url=url)[1]
    for add in (_add_over_rest, _add_over_mcp):
        added = add(world.tokens[shape], url)
        assert added["user_item_id"] != before["user_item_id"]
        assert added["status"] == "ready"
    listed = over_rest(world.tokens[shape], "GET", "items", per_page=100)[1]
    assert listed["total"] == len(SEES[shape]) + 1


def _add_over_rest(token: Minted, url: str) -> Any:
    return over_rest(token, "POST", "ingest", kind="url", url=url)[1]


def _add_over_mcp(token: Minted, url: str) -> Any:
    return over_mcp(token, "add_to_knowledge", kind="url", url=url)[1]


@pytest.mark.parametrize(
    ("answer", "code", "reason"),
    [
        (Response("no", 404), "ingest_failed", "gone"),
        (Response("no", 410), "ingest_failed", "gone"),
        (Response("no", 403), "ingest_failed", "blocked"),
        (Response("no", 418), "ingest_failed", "refused"),
        (Response("no", 503), "ingest_failed", "server_error"),
        (Response("", 302, {"Location": "/x"}), "ingest_failed", "too_many_redirects"),
        (Response("", 302, {"Location": "http://10.0.0.1/"}), "ingest_failed", "refused_address"),
        (Response("", 302, {"Location": "file:///etc/passwd"}), "ingest_failed", "bad_url"),
        (Response(b""), "ingest_failed", "not_extractable"),
        (Response(LOGIN, content_type="text/html"), "ingest_failed", "not_extractable"),
        (Response(SCRIPTED, content_type="text/html"), "ingest_failed", "not_extractable"),
        (Response(CHALLENGE, content_type="text/html"), "ingest_failed", "blocked"),
        (Response(b"MZ\x90\x00" + bytes(100)), "unsupported_media", None),
    ],
)
def test_a_link_that_fails_says_the_same_over_both_edges(
    mint: Mint, site: HTTPServer, answer: Response, code: str, reason: str | None
) -> None:
    site.expect_request("/x").respond_with_response(answer)
    told = both_refuse(mint(), kind="url", url=site.url_for("/x"))
    assert (told["error"], told.get("reason")) == (code, reason)
    assert rows() == {"Content": 0, "Item": 0, "Link": 0, "Chunk": 0}


@pytest.mark.parametrize(
    ("url", "code", "reason"),
    [
        ("http://169.254.169.254/", "ingest_failed", "refused_address"),
        ("http://user:secret@example.org/", "invalid_body", None),
        ("gopher://example.org/", "invalid_body", None),
        ("mailto:ada@example.org", "invalid_body", None),
        ("data:text/html,hello", "forbidden_binary", None),
        ("", "invalid_body", None),
        (" \n ", "invalid_body", None),
    ],
)
def test_an_address_that_is_none_is_refused_the_same_over_both_edges(
    mint: Mint, url: str, code: str, reason: str | None
) -> None:
    told = both_refuse(mint(), kind="url", url=url)
    assert (told["error"], told.get("reason")) == (code, reason)
    assert "secret" not in json.dumps(told)


def both_refuse(token: Minted, **body: Any) -> dict[str, Any]:
    """The refusal, once code, sentence and details are the same over both edges."""
    answer = token.client.post("/api/v1/ingest", body, format="json")
    rest = answer.json()
    assert answer.status_code == STATUSES[rest["error"]]
    with pytest.raises(QuarryError) as raised:
        call_tool(Caller(token.secret, edge="mcp"), "add_to_knowledge", body)
    mcp = {"message": raised.value.message, **error_data(raised.value)}
    del rest["request_id"]
    assert rest == json.loads(json.dumps(mcp))
    return dict(rest)


# What becomes of it -----------------------------------------------------------------------


def test_an_items_progress_failure_and_summary_are_the_same_over_both_edges(
    mint: Mint, library: Access, site: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcriber = FakeTranscriber(looks=1)
    monkeypatch.setitem(providers._TRANSCRIBERS, "fake", lambda: transcriber)
    token = mint()
    item = add_link(library, serve_recording(site), auto_transform=True)
    waiting = facts_of(token, item)
    assert (waiting["status"], waiting["step"], waiting["percent"]) == (
        "transcribing",
        "transcribe",
        0,
    )
    assert (waiting["index_status"], waiting["transform"]["state"]) == ("pending", "waiting")

    run_jobs(but=frozenset({"summarize_item"}))
    run_one(item)
    ready = facts_of(token, item)
    assert (ready["status"], ready["step"], ready["percent"]) == ("ready", "", 100)
    assert (ready["transform"]["state"], ready["index_status"]) == ("done", "done")
    assert len(ready["transform"]["quotes"]) == 2

    transcriber.failure = IngestFailed("Nobody speaks.", reason="no_speech")
    failing = add_link(library, serve_recording(site, "/silence.wav"))
    run_jobs()
    failed = facts_of(token, failing)
    assert (failed["status"], failed["transcription_error"]) == ("failed", "Nobody speaks.")
    assert (failed["index_status"], failed["index_error"]) == ("failed", "Nobody speaks.")


def run_one(item: Item) -> None:
    dramatiq.get_broker().get_actor("summarize_item").fn(str(item.pk))


def facts_of(token: Minted, item: Item) -> dict[str, Any]:
    """What MCP tells of an item, once REST tells the same."""
    rest = over_rest(token, "GET", f"items/{item.pk}")[1]
    mcp: dict[str, Any] = over_mcp(token, "get_item", item_id=str(item.pk))[1]
    flat = {**rest, "step": rest["progress"]["step"], "percent": rest["progress"]["percent"]}
    shared = (mcp.keys() & flat.keys()) - {"created_at", "transform"}
    assert {"status", "step", "percent", "text", "transcription_status"} <= shared
    assert {name: mcp[name] for name in shared} == {name: flat[name] for name in shared}
    assert _summary(mcp["transform"]) == _summary(rest["transform"])
    return mcp


def _summary(told: dict[str, Any] | None) -> Any:
    if told is None:
        return None
    places = [quote.get("locator", quote) for quote in told["quotes"]]
    quotes = [
        (quote["text"], place.get("page"), place.get("start_sec"))
        for quote, place in zip(told["quotes"], places, strict=True)
    ]
    return told["state"], told["tldr"], told["key_points"], quotes, told["error"]


# Side doors -------------------------------------------------------------------------------


@each_case("shape", SCOPED)
@pytest.mark.parametrize("door", ["retry", "transform"])
def test_what_a_token_does_not_see_is_as_if_missing_at_every_door(
    world: World, shape: str, door: str
) -> None:
    if door == "retry":
        Content.objects.update(state="failed", error="It broke.")
    token = world.tokens[shape]
    missing = over_rest(token, "POST", f"items/{MISSING}/{door}")
    assert missing[0] == "not_found"
    states = dict(Content.objects.values_list("pk", "state"))
    for title, item in world.items.items():
        answer = over_rest(token, "POST", f"items/{item.pk}/{door}")
        if title in SEES[shape]:
            assert answer[0] == "ok"
            continue
        assert answer == missing
        item.content.refresh_from_db()
        assert item.content.state == states[item.content_id]
        assert not Transform.objects.filter(item=item).exists()


@pytest.mark.parametrize("door", ["retry", "transform"])
@each_case("shape", sorted(DEAD | {"read_only"}))
def test_who_may_not_write_opens_no_door(world: World, shape: str, door: str) -> None:
    refusals = {
        over_rest(world.tokens[shape], "POST", f"items/{item_id}/{door}")
        for item_id in (world.items["in a"].pk, world.items["theirs"].pk, MISSING)
    }
    assert len(refusals) == 1
    expected = "capability_denied" if shape == "read_only" else "invalid_token"
    assert {code for code, _ in refusals} == {expected}


@pytest.mark.parametrize("route", ["finalize", "finalize-document"])
def test_anothers_upload_is_as_if_missing_whatever_has_become_of_it(
    world: World, route: str
) -> None:
    media_type = "audio/mpeg" if route == "finalize" else "text/plain"
    whole = world.tokens["whole"]
    uploads = [
        Upload.objects.create(
            owner=whole.row.owner,
            token_id=whole.row.pk,
            filename="notes",
            media_type=media_type,
            size=10,
            key=str(uuid4()),
            expires_at="2100-01-01T00:00Z",
            content=content,
            state=state,
        )
        for state, content in [
            ("begun", None),
            ("stored", None),
            ("finished", world.items["in a"].content),
        ]
    ]
    for shape in ("one_folder", "two_folders", "kb_only", "kb_only_folder", "stranger"):
        token = world.tokens[shape]
        answers = {
            over_rest(token, "POST", f"uploads/{route}", upload_id=upload_id)
            for upload_id in (MISSING, *(str(upload.pk) for upload in uploads))
        }
        assert len(answers) == 1
        assert {code for code, _ in answers} == {"not_found"}


def test_webhooks_are_for_who_sees_everything_and_only_ones_own(world: World) -> None:
    owners = {shape: token.row.owner_id for shape, token in world.tokens.items()}
    hooks = {
        shape: webhooks.create_webhook(
            Access.whole_library(owners[shape]), "https://example.org/hook"
        )
        for shape in ("whole", "stranger")
    }
    for shape in ("one_folder", "two_folders", "kb_only", "kb_only_folder", "read_only"):
        token = world.tokens[shape]
        for asked in (
            over_rest(token, "POST", "webhooks", url="https://example.org/"),
            over_rest(token, "GET", "webhooks"),
            *(over_rest(token, "DELETE", f"webhooks/{hook.pk}") for hook in hooks.values()),
            over_rest(token, "DELETE", f"webhooks/{MISSING}"),
        ):
            assert asked[0] == "capability_denied"
    for shape, other in (("whole", "stranger"), ("stranger", "whole")):
        token = world.tokens[shape]
        listed = over_rest(token, "GET", "webhooks")[1]["webhooks"]
        assert [row["id"] for row in listed] == [str(hooks[shape].pk)]
        assert "secret" not in listed[0]
        missing = over_rest(token, "DELETE", f"webhooks/{MISSING}")
        assert missing[0] == "not_found"
        assert over_rest(token, "DELETE", f"webhooks/{hooks[other].pk}") == missing
    assert Webhook.objects.count() == 2
