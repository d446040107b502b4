"""Resources: what can be read by address, and only within a token's reach."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client
from mcp_types import ResourceLink

from knowledge.access import Access
from knowledge.errors import InvalidInput, NotFound
from knowledge.library.editing import ItemChanges, update_item
from knowledge.models import Folder, Item
from mcp_gateway import resources
from mcp_gateway.cursors import place_of
from mcp_gateway.resources import list_resources, read_resource
from mcp_gateway.tools.library import get_item, list_recent
from tests.support.library import Add, Mint
from tests.support.mcp_agent import AgentWith, error_of
from tokens.models import Event


def test_an_item_reads_as_get_item_tells_it(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    item, access = add("Consent", "", folder("Shelf")), mint().access
    read = read_resource(access, f"quarry://items/{item.pk}")
    assert read.mime_type == "text/markdown"
    assert read.text == get_item(access, str(item.pk)).as_text()


def test_a_hit_s_own_link_reads_the_item(mint: Mint, add: Add) -> None:
    item = add("Consent")
    read = read_resource(mint().access, f"quarry://items/{item.pk}#char=0,10")
    assert read.text.startswith("# Consent\n")


def test_a_text_past_the_cap_says_where_it_goes_on(
    mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = add("Consent")
    monkeypatch.setattr(resources, "MAX_CHARS", 10)
    read = read_resource(mint().access, f"quarry://items/{item.pk}")
    assert f"Characters 0 to 10 of {len(item.content.text)}." in read.text
    assert "Call get_item with offset 10" in read.text


def test_folders_are_those_in_reach_with_what_is_seen_in_each(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    mine, other = folder("Mine"), folder("Other")
    add("one", "", mine)
    add("two", "", mine, other, in_kb=False)

    def read(*folders: Folder, **shape: Any) -> list[tuple[str, int]]:
        text = read_resource(mint(*folders, **shape).access, "quarry://folders").text
        return [(each["name"], each["item_count"]) for each in json.loads(text)["folders"]]

    assert read() == [("Mine", 2), ("Other", 1)]
    assert read(mine) == [("Mine", 2)]
    assert read(mine, kb_only=True) == [("Mine", 1)]


@pytest.mark.parametrize(
    "uri",
    [
        "quarry://items/{hidden}",
        "quarry://items/{missing}",
        "quarry://items/7",
        "quarry://items/",
        "quarry://folders/x",
        "file:///etc/passwd",
        "{hidden}",
        "",
    ],
)
def test_what_is_hidden_missing_or_nobody_s_is_not_found_alike(
    mint: Mint, add: Add, folder: Callable[[str], Folder], uri: str
) -> None:
    hidden = add("Hidden", "", folder("Other"))
    access = mint(folder("Mine")).access
    with pytest.raises(NotFound) as refused:
        read_resource(access, uri.format(hidden=hidden.pk, missing=uuid4()))
    assert refused.value.message == resources.no_such_resource().message


def test_the_list_is_the_folders_and_then_the_newest(
    mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "PER_PAGE", 2)
    items = [add(f"Item {number}") for number in range(5)]
    access = mint().access
    pages, cursor = [], None
    while True:
        page = list_resources(access, cursor)
        pages.append([resource.uri for resource in page.resources])
        if (cursor := page.next_cursor) is None:
            break
    newest = [f"quarry://items/{item.pk}" for item in reversed(items)]
    assert pages == [["quarry://folders", *newest[:2]], newest[2:4], newest[4:]]


def test_paging_neither_skips_nor_repeats_while_things_come_and_go(
    mint: Mint, add: Add, library: Access
) -> None:
    items = [add(f"Item {number}") for number in range(6)]
    access = mint().access
    first = list_recent(access, limit=3)
    add("Newcomer")
    update_item(library, items[3].pk, ItemChanges(archived=True))  # the one the cursor names
    rest = list_recent(access, limit=100, cursor=first.next_cursor)
    assert [item.title for item in first.items] == ["Item 5", "Item 4", "Item 3"]
    assert [item.title for item in rest.items] == ["Item 2", "Item 1", "Item 0"]
    assert rest.next_cursor is None


def test_items_of_one_moment_are_paged_too(mint: Mint, add: Add) -> None:
    items = [add(f"Item {number}") for number in range(4)]
    Item.objects.update(created_at=items[0].created_at)
    access = mint().access
    seen, cursor = [], None
    for _ in items:
        page = list_recent(access, limit=1, cursor=cursor)
        seen += [item.user_item_id for item in page.items]
        cursor = page.next_cursor
    assert cursor is None
    assert sorted(seen) == sorted(item.pk for item in items)


@pytest.mark.parametrize(
    "cursor", ["", "x", "é", "bnVsbA", "WzEsMl0", "W10", "[" * 50, "WyIyMDI2LTAxLTAxIiwgIngiXQ"]
)
def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="next_cursor of the page before"):
        place_of(cursor)


def test_another_token_s_cursor_shows_nothing_more(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    mine = folder("Mine")
    for number in range(3):
        add(f"Item {number}", "", *([mine] if number == 0 else []))
    cursor = list_recent(mint().access, limit=1).next_cursor
    seen = list_recent(mint(mine).access, cursor=cursor)
    assert [item.title for item in seen.items] == ["Item 0"]


@pytest.mark.django_db(transaction=True)
def test_a_client_follows_a_hit_to_its_resource(
    mint: Mint, add: Add, agent_with: AgentWith
) -> None:
    item, minted = add("Consent", "The user gives consent."), mint()
    agent = agent_with(minted.secret)

    async def follow(client: Client) -> tuple[Any, Any, Any]:
        found = await client.call_tool("search_knowledge_base", {"query": "consent"})
        [link] = found.content[1:]
        assert isinstance(link, ResourceLink)
        missing = f"quarry://items/{uuid4()}"
        return (
            link,
            await client.read_resource(link.uri),
            await error_of(client.read_resource(missing)),
        )

    link, read, refused = agent.ask(follow)
    assert (link.type, link.name, link.uri) == (
        "resource_link",
        "Consent",
        f"quarry://items/{item.pk}",
    )
    assert read.contents[0].text.startswith("# Consent\n")
    assert (read.cache_scope, read.ttl_ms) == ("private", 0)
    assert refused.code == -32602
    assert (refused.data["error"], refused.data["uri"][:15]) == ("not_found", "quarry://items/")
    events = Event.objects.filter(token=minted.row).order_by("at")
    assert [(event.action, event.outcome) for event in events] == [
        ("search", "ok"),
        ("get_item", "ok"),
        ("get_item", "not_found"),
    ]
    assert events[1].target == str(item.pk)


@pytest.mark.django_db(transaction=True)
def test_a_client_lists_resources_and_templates(
    mint: Mint, add: Add, agent_with: AgentWith
) -> None:
    add("Consent")
    agent = agent_with(mint(write=False).secret)
    listed = agent.ask(lambda client: client.list_resources())
    assert [resource.title for resource in listed.resources] == ["Folders", "Consent"]
    assert (listed.next_cursor, listed.cache_scope) == (None, "private")
    templates = agent.ask(lambda client: client.list_resource_templates())
    assert [each.uri_template for each in templates.resource_templates] == ["quarry://items/{id}"]
