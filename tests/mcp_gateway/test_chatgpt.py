"""ChatGPT's pair: the names and shapes that it looks for, and nothing else."""

import json
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from knowledge.errors import InvalidId, InvalidInput, NotFound
from knowledge.models import Content, Folder
from mcp_gateway.tool_table import tool_named, tools_shown_to
from mcp_gateway.tools import chatgpt
from mcp_gateway.tools.chatgpt import fetch, search
from tests.support.library import Add, Mint, Minted
from tests.support.mcp_agent import AgentWith, text_of
from tokens.minting import TokenRequest, mint_token
from tokens.models import Event, Toolset


@pytest.fixture
def chatgpt_token(owner: User) -> Minted:
    request = TokenRequest(name="ChatGPT", folder_ids=None, toolsets=[Toolset.CHATGPT])
    return Minted(*mint_token(owner, request))


def test_a_token_of_this_toolset_is_shown_the_pair_alone(chatgpt_token: Minted) -> None:
    assert [tool.name for tool in tools_shown_to(chatgpt_token.row)] == ["search", "fetch"]


def test_search_answers_each_item_once(mint: Mint, add: Add) -> None:
    add("Consent", "\n\n".join(f"# Part {n}\n\n" + "Consent is given. " * 200 for n in range(4)))
    add("Other consent")
    found = search(mint().access, "consent")
    assert sorted(result.title for result in found.results) == ["Consent", "Other consent"]
    assert found.model_dump().keys() == {"results"}
    assert {key for result in found.results for key in result.model_dump()} == {
        "id",
        "title",
        "url",
    }


def test_fetch_answers_the_whole_text_and_its_facts(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    item = add("Consent", "", shelf)
    document = fetch(mint().access, str(item.pk))
    assert (document.id, document.title) == (item.pk, "Consent")
    assert document.text == item.content.text
    assert document.metadata.folder_ids == [shelf.pk]
    assert document.metadata.untrusted is True
    assert document.metadata.truncated is False
    assert json.loads(document.as_text()) == document.model_dump(mode="json")


def test_a_text_past_the_cap_says_that_it_is_cut(
    mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = add("Consent")
    monkeypatch.setattr(chatgpt, "MAX_CHARS", 10)
    document = fetch(mint().access, str(item.pk))
    assert document.text == item.content.text[:10]
    assert document.metadata.truncated is True
    assert document.metadata.total_chars == len(item.content.text)


def test_every_result_has_an_address(mint: Mint, add: Add, settings) -> None:
    item, access = add("Consent"), mint().access
    settings.QUARRY_PUBLIC_URL = ""
    assert fetch(access, str(item.pk)).url == f"quarry://items/{item.pk}"
    settings.QUARRY_PUBLIC_URL = "https://quarry.example"
    page = f"https://quarry.example/admin/knowledge/item/{item.pk}/change/"
    assert fetch(access, str(item.pk)).url == page
    assert search(access, "consent").results[0].url == page
    Content.objects.filter(pk=item.content_id).update(url="https://example.org/consent")
    assert fetch(access, str(item.pk)).url == "https://example.org/consent"


def test_what_is_hidden_is_neither_found_nor_fetched(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    hidden = add("Consent", "", folder("Other"))
    access = mint(folder("Mine")).access
    assert search(access, "consent").results == []
    for missing in (hidden.pk, uuid4()):
        with pytest.raises(NotFound, match="No such item"):
            fetch(access, str(missing))


def test_a_wrong_argument_is_refused(mint: Mint) -> None:
    with pytest.raises(InvalidId, match="id must be a UUID"):
        fetch(mint().access, "7")
    asking = mint(toolsets=[Toolset.CHATGPT]).row
    with pytest.raises(InvalidInput, match="limit is not an argument"):
        tool_named("search", asking).prepare(asking, {"query": "x", "limit": 3})()


def test_the_command_mints_for_this_toolset(
    owner: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("mint_token", owner="ada", name="x", toolsets=["chatgpt"], json=True)
    assert json.loads(capsys.readouterr().out)["toolsets"] == ["chatgpt"]


@pytest.mark.django_db(transaction=True)
def test_chatgpt_searches_and_fetches(
    chatgpt_token: Minted, add: Add, agent_with: AgentWith
) -> None:
    item = add("Consent")
    agent = agent_with(chatgpt_token.secret)
    found = agent.call("search", query="consent")
    assert len(found.content) == 1
    assert json.loads(text_of(found)) == found.structured_content
    assert found.structured_content["results"][0]["id"] == str(item.pk)
    read = agent.call("fetch", id=str(item.pk))
    assert json.loads(text_of(read)) == read.structured_content
    assert list(read.structured_content) == ["id", "title", "text", "url", "metadata"]
    denied = agent.refused("get_item", item_id=str(item.pk))
    assert denied.data["error"] == "capability_denied"
    events = Event.objects.filter(token=chatgpt_token.row).order_by("at")
    assert [(event.action, event.target) for event in events[:2]] == [
        ("search", ""),
        ("get_item", str(item.pk)),
    ]
