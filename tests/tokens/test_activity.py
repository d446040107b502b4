"""What a token did, as it is told itself."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, reverse
from django.utils import timezone
from rest_framework.test import APIClient

from knowledge.api.urls import urlpatterns
from tests.support.edges import MISSING, over_mcp, over_rest
from tests.support.library import Add, Mint, Minted
from tests.support.rollback import each_case
from tests.support.undo import added
from tokens.activity import record
from tokens.models import Event, Toolset

ROUTE = "/api/v1/activity"
ROUTES_OF_ONE = [
    route
    for route in urlpatterns
    if any(name.endswith("_id") and name != "agent_id" for name in route.pattern.converters)
]


def activity_of(client: APIClient | Client, **asked: Any) -> Any:
    answer = client.get(ROUTE, asked)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def asks(page: Any) -> list[str]:
    return [event["ask"] for event in page["events"]]


def test_a_token_is_told_what_it_did_newest_first(mint: Mint, add: Add) -> None:
    token, item = mint(), add("One")
    token.client.get(f"/api/v1/items/{item.pk}")
    token.client.get(f"/api/v1/items/{uuid4()}")
    page = activity_of(token.client)
    assert (page["total"], page["page"], page["per_page"]) == (2, 1, 20)
    missed, read = page["events"]
    assert (missed["ask"], missed["outcome"]) == ("get_item", "not_found")
    assert (read["ask"], read["outcome"], read["target"]) == ("get_item", "ok", str(item.pk))
    assert read["edge"] == "rest"
    assert read["token_id"] == str(token.row.pk)
    assert read["latency_ms"] >= 0
    assert read["request_id"]
    assert asks(activity_of(token.client))[0] == "activity"


def test_a_token_is_told_nothing_of_other_tokens(mint: Mint, stranger: User) -> None:
    token, same_owner, foreign = mint(), mint(), mint(by=stranger)
    for each in (same_owner, foreign):
        each.client.get("/api/v1/folders")
    token.client.get("/api/v1/whoami")
    assert asks(activity_of(token.client)) == ["whoami"]


def test_a_signed_in_person_is_told_of_all_their_tokens(
    mint: Mint, owner: User, stranger: User, client: Client
) -> None:
    tokens = [mint(), mint()]
    for each in (*tokens, mint(by=stranger)):
        each.client.get("/api/v1/whoami")
    client.force_login(owner)
    told = activity_of(client)
    assert {event["token_id"] for event in told["events"]} == {str(t.row.pk) for t in tokens}
    with_token = client.get(ROUTE, headers={"Authorization": f"Bearer {tokens[0].secret}"})
    assert with_token.json()["total"] == 1


def test_nobody_is_told_without_a_token(client: Client, db: None) -> None:
    answer = client.get(ROUTE)
    assert (answer.status_code, answer.json()["error"]) == (401, "missing_bearer_token")


@pytest.fixture
def busy(mint: Mint) -> Minted:
    """A token that has read, failed and added, a day apart."""
    token = mint()
    for days, ask, outcome in (
        (2, "search", "ok"),
        (1, "search", "rate_limited"),
        (0, "add", "ok"),
    ):
        record(token.row, edge="mcp", action=ask, outcome=outcome, latency_ms=1)
        at = timezone.now() - timedelta(days=days)
        Event.objects.filter(pk=Event.objects.latest("pk").pk).update(at=at)
    return token


@each_case(
    "asked, found",
    [
        ({}, ["add", "search", "search"]),
        ({"ask": "search"}, ["search", "search"]),
        ({"outcome": "ok"}, ["add", "search"]),
        ({"outcome": "ok", "ask": "search"}, ["search"]),
        ({"since": "1d"}, ["add"]),
        ({"since": "0001-01-01T00:00:00+14:00", "ask": "add"}, ["add"]),
        ({"since": "9999-12-31T23:59:59-14:00"}, []),
        ({"per_page": 1, "page": 2}, ["search"]),
        ({"page": 9}, []),
    ],
)
def test_the_record_is_narrowed_and_paged(
    busy: Minted, asked: dict[str, Any], found: list[str]
) -> None:
    assert asks(activity_of(busy.client, **asked)) == found


@pytest.mark.parametrize(
    "asked",
    [
        {"since": "soon"},
        {"since": "99999y"},
        {"outcome": "fine"},
        {"ask": "everything"},
        {"page": 0},
        {"per_page": 101},
        {"token_id": "x"},
    ],
    ids=str,
)
def test_a_wrong_filter_is_refused_and_named(mint: Mint, asked: dict[str, Any]) -> None:
    answer = mint().client.get(ROUTE, asked)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_body")
    assert answer.json()["field"] == next(iter(asked))


def test_neither_words_nor_the_secret_are_on_record(mint: Mint) -> None:
    token = mint()
    added(token.access, "A private title")
    token.client.get("/api/v1/items/what-my-doctor-said")
    token.client.get("/api/v1/search", {"query": "what my doctor said"})
    told = str(activity_of(token.client)) + str(list(Event.objects.values()))
    for word in ("doctor", "private", token.secret, token.secret[4:20]):
        assert word not in told


def test_what_was_made_is_on_record(mint: Mint) -> None:
    token = mint()
    made = token.client.post("/api/v1/folders", {"name": "Made"}, format="json").json()
    [event] = activity_of(token.client, ask="create_folder")["events"]
    assert event["target"] == made["id"]


@each_case("route", ROUTES_OF_ONE)
def test_every_route_of_one_thing_has_it_on_record(mint: Mint, route: URLPattern) -> None:
    token = mint()
    named = dict.fromkeys(route.pattern.converters, MISSING)
    path = reverse(f"library_api:{route.name}", kwargs=named)
    for method in route.callback.cls.asks:  # type: ignore[attr-defined]
        token.client.generic(method, path, "{}", content_type="application/json")
        event = Event.objects.latest("pk")
        assert (event.edge, event.target) == ("rest", MISSING), method


@pytest.mark.parametrize(
    ("tool", "named"),
    [
        ("get_item", "item_id"),
        ("fetch", "id"),
        ("manage", "entity_id"),
        ("explore", "entity_id"),
        ("kp_validate_unit", "unit_id"),
        ("list_sources", "source_id"),
        ("crawl_source", "source_id"),
    ],
)
def test_every_tool_for_one_thing_has_it_on_record(mint: Mint, tool: str, named: str) -> None:
    token = mint(toolsets=Toolset.values)
    over_mcp(token, tool, **{named: MISSING})
    event = Event.objects.get()
    assert (event.edge, event.target) == ("mcp", MISSING)


def test_where_a_walk_begins_is_on_record(mint: Mint) -> None:
    token = mint(toolsets=[Toolset.MEMORY])
    over_rest(token, "GET", "explore", mode="related", entity_id=MISSING)
    over_rest(token, "GET", "explore", mode="list")
    assert list(Event.objects.order_by("pk").values_list("target", flat=True)) == [MISSING, ""]


def test_what_was_remembered_or_begun_is_on_record(mint: Mint) -> None:
    token = mint(toolsets=Toolset.values)
    begun = {"filename": "a.pdf", "mime_type": "application/pdf", "size": 10}
    site = {"name": "Docs", "start_url": "https://docs.example.org/"}
    made = [
        over_mcp(token, "add", title="Backups", content="Are tested on Mondays.")[1]["id"],
        over_mcp(token, "crawl_source", **site)[1]["source_id"],
        over_rest(token, "POST", "uploads/signed-url", **begun)[1]["upload_id"],
    ]
    assert list(Event.objects.order_by("pk").values_list("target", flat=True)) == made


def test_it_has_its_limit(mint: Mint) -> None:
    assert mint().client.get(ROUTE).headers["RateLimit-Limit"] == "1000"
