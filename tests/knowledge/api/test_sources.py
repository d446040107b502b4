"""Documentation sources over both edges: who may see, add and change them, and what is told."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.models import Folder, Item, Source
from knowledge.retrieval.scope import Narrowing
from tests.support.adding import run_jobs
from tests.support.edges import MISSING, over_mcp, over_rest
from tests.support.library import Mint, Minted
from tests.support.rollback import each_case
from tests.support.searching import search
from tests.support.site import DocSite
from tokens.models import Toolset

pytestmark = pytest.mark.django_db

MakeFolder = Callable[[str], Folder]
BOTH = (Toolset.LIBRARY, Toolset.MEMORY)
SITE = {"name": "Handbook", "start_url": "https://docs.example.org/"}


@pytest.fixture
def docs(site: HTTPServer, settings: Settings) -> DocSite:
    settings.QUARRY_CRAWL_DELAY_SEC = 0
    docs = DocSite(site)
    docs.write("/", "the start", "/granite", "/missing")
    docs.write("/granite", "granite")
    return docs


def added(token: Minted, **wished: Any) -> dict[str, Any]:
    said, source = over_rest(token, "POST", "sources", **{**SITE, **wished})
    assert said == "ok", source
    return dict(source)


def test_a_source_is_added_crawled_and_told_the_same_over_both_edges(
    docs: DocSite, mint: Mint
) -> None:
    token = mint(toolsets=BOTH)
    source = added(token, start_url=docs.url())
    assert (source["state"], source["percent"], source["crawl"]) == ("queued", 0, 1)
    run_jobs()
    told = over_rest(token, "GET", f"sources/{source['id']}")[1]
    assert (told["state"], told["percent"], told["error"]) == ("done", 100, "")
    assert told["pages"] == {
        "queued": 0,
        "kept": 2,
        "same": 0,
        "skipped": 0,
        "failed": 1,
        "gone": 0,
    }
    assert (told["pages_done"], told["pages_known"]) == (3, 3)
    assert over_rest(token, "GET", "sources")[1] == {"sources": [told]}
    [listed] = over_mcp(token, "list_sources")[1]["sources"]
    assert listed == over_mcp(token, "list_sources", source_id=source["id"])[1]["sources"][0]
    assert listed["pages"] == told["pages"]
    shared = told.keys() & listed.keys() - {"begun_at", "finished_at"}
    assert {name: told[name] for name in shared} == {name: listed[name] for name in shared}


def test_pages_are_listed_with_what_came_of_them(docs: DocSite, mint: Mint) -> None:
    token = mint()
    source = added(token, start_url=docs.url())
    run_jobs()
    route = f"sources/{source['id']}/pages"
    listed = over_rest(token, "GET", route)[1]
    assert (listed["total"], listed["page"], listed["per_page"]) == (3, 1, 20)
    assert listed["pages"][0]["url"] == docs.url("/")
    failed = over_rest(token, "GET", route, state="failed")[1]["pages"]
    assert [(page["url"], page["reason"], page["user_item_id"]) for page in failed] == [
        (docs.url("/missing"), "gone", None)
    ]
    assert over_rest(token, "GET", route, state="lost")[0] == "invalid_body"
    assert over_rest(token, "GET", route, per_page=2, page=2)[1]["pages"] != []


def test_agents_add_and_refresh_a_source(docs: DocSite, mint: Mint) -> None:
    token = mint(toolsets=BOTH)
    said, source = over_mcp(token, "crawl_source", name="Docs", start_url=docs.url(), depth=1)
    assert (said, source["state"]) == ("ok", "queued")
    joined = over_mcp(token, "crawl_source", source_id=source["source_id"])
    assert joined == ("ok", source)
    run_jobs()
    again = over_mcp(token, "crawl_source", source_id=source["source_id"])[1]
    assert again["state"] == "queued"
    assert Source.objects.get().crawl == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "name is required, unless source_id is given."),
        ({"name": "Docs"}, "start_url is required, unless source_id is given."),
        ({"source_id": MISSING, "name": "Docs"}, "Give source_id to refresh a source, or name"),
        ({"source_id": "mine"}, "source_id must be a UUID."),
    ],
)
def test_an_agent_is_told_what_to_give(mint: Mint, arguments: dict[str, str], told: str) -> None:
    message = over_mcp(mint(toolsets=BOTH), "crawl_source", **arguments)[1]
    assert message.startswith(told)


@each_case(
    "wished, field",
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"start_url": "ftp://docs.example.org/"}, "start_url"),
        ({"start_url": "http://10.0.0.1/"}, "start_url"),
        ({"start_url": "http://localhost/"}, "start_url"),
        ({"start_url": "https://user:pass@docs.example.org/"}, "start_url"),
        ({"start_url": "docs.example.org"}, "start_url"),
        ({"include": ["docs/*"]}, "include"),
        ({"include": ["/x"] * 51}, "include"),
        ({"exclude": ["/" + "x" * 200]}, "exclude"),
        ({"exclude": ["/\x00"]}, "exclude"),
        ({"depth": 0}, "depth"),
        ({"depth": 6}, "depth"),
        ({"max_pages": 501}, "max_pages"),
        ({"folder_id": "nowhere"}, "folder_id"),
        ({"color": "blue"}, "color"),
    ],
)
def test_a_wrong_wish_is_refused_with_its_field(
    mint: Mint, wished: dict[str, Any], field: str
) -> None:
    answer = mint().client.post("/api/v1/sources", {**SITE, **wished}, format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert not Source.objects.exists()


def test_a_name_is_taken_whatever_its_case(mint: Mint, stranger: User) -> None:
    token = mint(toolsets=BOTH)
    source = added(token)
    assert over_rest(token, "POST", "sources", **{**SITE, "name": "HANDBOOK"})[0] == "name_taken"
    assert over_mcp(token, "crawl_source", **{**SITE, "name": "handbook"})[0] == "name_taken"
    added(token, name="Other")
    route = f"sources/{source['id']}"
    assert over_rest(token, "PATCH", route, name="other")[0] == "name_taken"
    assert over_rest(token, "PATCH", route, name="HandBook")[1]["name"] == "HandBook"
    added(mint(by=stranger))


def test_changing_a_source_changes_what_is_given(mint: Mint) -> None:
    token = mint()
    source = added(token)
    wished = {"include": ["/docs/*"], "depth": 1, "max_pages": 5}
    changed = over_rest(token, "PATCH", f"sources/{source['id']}", **wished)[1]
    assert {name: changed[name] for name in wished} == wished
    assert (changed["name"], changed["exclude"]) == ("Handbook", [])
    assert over_rest(token, "PATCH", f"sources/{source['id']}", start_url="x")[0] == "invalid_body"


@pytest.mark.parametrize("delete_items", ["false", "true"])
def test_deleting_a_source_keeps_its_items_unless_told_otherwise(
    docs: DocSite, mint: Mint, delete_items: str
) -> None:
    token = mint()
    source = added(token, start_url=docs.url())
    run_jobs()
    route = f"/api/v1/sources/{source['id']}?delete_items={delete_items}"
    assert token.client.delete(route).status_code == 204
    assert Item.objects.count() == (0 if delete_items == "true" else 2)
    assert token.client.delete(route).status_code == 404


# Scope ----------------------------------------------------------------------------------------


def test_a_token_with_one_folder_files_there_and_one_with_several_says_where(
    mint: Mint, folder: MakeFolder
) -> None:
    a, b, c = folder("A"), folder("B"), folder("C")
    one, two = mint(a), mint(a, b, toolsets=BOTH)
    assert added(one)["folder_id"] == str(a.pk)
    assert over_rest(one, "POST", "sources", **{**SITE, "folder_id": str(b.pk)})[0] == (
        "forbidden_scope"
    )
    said, told = over_rest(two, "POST", "sources", **{**SITE, "name": "Two"})
    assert (said, "reaches several folders" in told) == ("invalid_body", True)
    assert over_mcp(two, "crawl_source", **{**SITE, "name": "Two"}) == (said, told)
    assert added(two, name="Two", folder_id=str(b.pk))["folder_id"] == str(b.pk)
    wished = {**SITE, "name": "Three", "folder_id": str(c.pk)}
    assert over_rest(two, "POST", "sources", **wished)[0] == "forbidden_scope"
    assert added(mint(), name="Whole")["folder_id"] is None


def test_a_source_out_of_reach_is_as_if_it_were_not_there(
    mint: Mint, folder: MakeFolder, stranger: User
) -> None:
    a, b = folder("A"), folder("B")
    source = added(mint(a))
    others = [mint(b, toolsets=BOTH), mint(by=stranger, toolsets=BOTH)]
    for token in others:
        missing = over_rest(token, "GET", f"sources/{MISSING}")
        route = f"sources/{source['id']}"
        for method, path in (
            *(("GET", route), ("PATCH", route), ("DELETE", route)),
            *(("POST", f"{route}/crawls"), ("GET", f"{route}/pages")),
        ):
            assert over_rest(token, method, path) == missing
        assert over_mcp(token, "crawl_source", source_id=source["id"]) == missing
        assert over_mcp(token, "list_sources", source_id=source["id"]) == missing
        assert over_rest(token, "GET", "sources")[1] == {"sources": []}
        assert over_mcp(token, "list_sources")[1] == {"sources": []}
    assert Source.objects.get().crawl == 1


def test_a_token_that_may_not_write_only_looks(mint: Mint) -> None:
    source = added(mint())
    reader = mint(write=False, toolsets=BOTH)
    route = f"sources/{source['id']}"
    assert over_rest(reader, "GET", route)[0] == "ok"
    for method, path, sent in (
        ("POST", "sources", SITE),
        ("PATCH", route, {"depth": 2}),
        ("DELETE", route, {}),
        ("POST", f"{route}/crawls", {}),
    ):
        assert over_rest(reader, method, path, **sent)[0] == "capability_denied"
    assert over_mcp(reader, "crawl_source", source_id=source["id"])[0] == "capability_denied"


def test_a_page_s_item_is_named_to_those_who_see_it(
    docs: DocSite, mint: Mint, folder: MakeFolder
) -> None:
    shelf = folder("Shelf")
    whole, scoped = mint(), mint(shelf)
    source = added(whole, start_url=docs.url(), folder_id=str(shelf.pk))
    run_jobs()
    Item.objects.get(content__url=docs.url("/granite")).filings.all().delete()
    route = f"sources/{source['id']}/pages"
    named = {
        token.row.pk: [
            page["user_item_id"] is not None
            for page in over_rest(token, "GET", route, state="kept")[1]["pages"]
        ]
        for token in (whole, scoped)
    }
    assert named == {whole.row.pk: [True, True], scoped.row.pk: [True, False]}


# Search ---------------------------------------------------------------------------------------


def test_a_search_can_be_narrowed_to_a_source(docs: DocSite, mint: Mint, add: Any) -> None:
    add("Granite elsewhere", "granite of another kind")
    token = mint()
    source = added(token, start_url=docs.url())
    run_jobs()
    for narrowing in (
        Narrowing(source_id=Source.objects.get().pk),
        Narrowing(source_name="hand"),
    ):
        hits = search(token.access, query="granite", narrowing=narrowing).hits
        assert {hit.item.content.url for hit in hits} == {docs.url("/granite")}
    nothing = search(token.access, query="granite", narrowing=Narrowing(source_name="other"))
    assert nothing.hits == []
    assert source["name"] == "Handbook"
