"""Prompts, and completions of what they and the resource template take."""

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client
from mcp_types import (
    CompleteRequestParams,
    CompletionArgument,
    PromptReference,
    ResourceTemplateReference,
)

from knowledge.access import Access
from knowledge.errors import CapabilityDenied, InvalidInput, NotFound
from knowledge.models import Folder
from mcp_gateway.completions import complete
from mcp_gateway.prompts import PROMPTS, prompt_named, prompts_shown_to
from tests.support.library import Add, Mint, Minted
from tests.support.mcp_agent import AgentWith, error_of
from tokens.models import Token, Toolset

NAMES = ["research", "summarise_folder", "add_and_file"]


def words(minted: Minted, name: str, **arguments: str) -> str:
    return prompt_named(name).words_for(minted.row, arguments)


def test_a_token_is_offered_what_it_may_do_in_the_same_order() -> None:
    def offered(**shape: Any) -> list[str]:
        return [prompt.name for prompt in prompts_shown_to(Token(is_unscoped=True, **shape))]

    assert offered(can_write=True) == NAMES
    assert offered() == ["research", "summarise_folder"]
    assert offered(can_write=True, toolsets=[Toolset.CHATGPT]) == []


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=list(PROMPTS))
def test_a_prompt_says_what_it_is_for_and_what_it_takes(prompt: Any) -> None:
    assert prompt.definition.title
    assert prompt.definition.description
    assert all(argument.description for argument in prompt.definition.arguments)


def test_research_puts_the_question_and_the_folder_into_words(
    mint: Mint, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    assert "What is consent?" in words(mint(), "research", question="What is consent?")
    narrowed = words(mint(), "research", question="What is consent?", folder="sHELF")
    assert f"folder_id {shelf.pk}" in narrowed
    assert "in the folder Shelf" in narrowed


def test_a_folder_s_summary_counts_what_the_token_sees(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    add("in", "", shelf)
    add("out", "", shelf, in_kb=False)
    assert "2 items" in words(mint(shelf), "summarise_folder", folder=str(shelf.pk))
    assert "1 items" in words(mint(shelf, kb_only=True), "summarise_folder", folder="Shelf")


def test_adding_names_the_folder_to_file_in(mint: Mint, folder: Callable[[str], Folder]) -> None:
    shelf = folder("Shelf")
    asked = {"url_or_text": "https://example.org/a", "folder": "Shelf"}
    for token in (mint(shelf), mint()):
        said = words(token, "add_and_file", **asked)
        assert f"File it in Shelf with folder_id {shelf.pk}." in said
        assert "https://example.org/a" in said
    unfiled = words(mint(), "add_and_file", url_or_text="Some words.")
    assert "File it" not in unfiled
    assert "which folder it went to" in unfiled


def test_a_folder_out_of_reach_is_not_found_and_not_named(
    mint: Mint, folder: Callable[[str], Folder]
) -> None:
    mine = folder("Mine")
    folder("Hidden")
    with pytest.raises(NotFound) as hidden:
        words(mint(mine), "research", question="x", folder="Hidden")
    with pytest.raises(NotFound) as missing:
        words(mint(mine), "research", question="x", folder="Hidder")
    assert hidden.value.message.replace("Hidden", "") == missing.value.message.replace("Hidder", "")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("research", {}, "question is required"),
        ("research", {"question": "  "}, "question is required"),
        ("research", {"question": "x" * 10_001}, "between 1 and 10,000"),
        ("research", {"question": "x", "owner": "1"}, "it takes: question, folder"),
        ("summarise_folder", {"folder": ""}, "folder is required"),
        ("rm", {}, "There is no prompt rm"),
    ],
)
def test_a_wrong_argument_is_refused_with_what_is_allowed(
    mint: Mint, name: str, arguments: dict[str, str], told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        words(mint(), name, **arguments)


def test_a_reader_is_refused_the_prompt_that_adds(mint: Mint) -> None:
    with pytest.raises(CapabilityDenied, match="add_and_file needs"):
        words(mint(write=False), "add_and_file", url_or_text="x")


# Completions -----------------------------------------------------------------------------


def completed(access: Access, ref: str, argument: str, value: str) -> list[str]:
    by_uri = "://" in ref
    params = CompleteRequestParams(
        ref=ResourceTemplateReference(uri=ref) if by_uri else PromptReference(name=ref),
        argument=CompletionArgument(name=argument, value=value),
    )
    return complete(access, params).values


def test_a_folder_is_completed_among_those_in_reach(
    mint: Mint, folder: Callable[[str], Folder]
) -> None:
    stones, _ = folder("Stones"), folder("Stories")
    whole, scoped = mint().access, mint(stones).access
    assert completed(whole, "research", "folder", "sto") == ["Stones", "Stories"]
    assert completed(whole, "summarise_folder", "folder", "STON") == ["Stones"]
    assert completed(scoped, "research", "folder", "") == ["Stones"]
    assert completed(scoped, "add_and_file", "folder", "stor") == []
    assert completed(whole, "research", "question", "sto") == []


def test_an_id_is_completed_by_the_title_among_what_is_seen(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    mine = folder("Mine")
    seen, hidden = add("Granite in Norway", "", mine), add("Granite in Italy")
    add("Of granite")
    template = "quarry://items/{id}"
    whole = completed(mint().access, template, "id", "granite")
    assert whole == [str(hidden.pk), str(seen.pk)]
    assert completed(mint(mine).access, template, "id", "granite") == [str(seen.pk)]
    assert completed(mint(mine, kb_only=True).access, template, "id", "gran%") == []


@pytest.mark.parametrize(
    ("ref", "argument", "told"),
    [
        ("rm", "folder", "There is no prompt rm"),
        ("research", "id", "There is no argument id"),
        ("quarry://items/{id}", "folder", "There is no argument folder"),
        ("file:///{path}", "path", "There is no template"),
    ],
)
def test_what_cannot_be_completed_is_refused(
    mint: Mint, ref: str, argument: str, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        completed(mint().access, ref, argument, "x")


@pytest.mark.django_db(transaction=True)
def test_a_client_lists_gets_and_completes(
    mint: Mint, folder: Callable[[str], Folder], agent_with: AgentWith
) -> None:
    folder("Stones")

    async def use(client: Client) -> Any:
        return (
            await client.list_prompts(),
            await client.get_prompt("research", {"question": "What is granite?"}),
            await client.complete(
                PromptReference(name="research"), {"name": "folder", "value": "st"}
            ),
            await error_of(client.get_prompt("research", {})),
        )

    listed, got, completion, refused = agent_with(mint().secret).ask(use)
    assert [prompt.name for prompt in listed.prompts] == NAMES
    assert "What is granite?" in got.messages[0].content.text
    assert completion.completion.values == ["Stones"]
    assert (refused.code, refused.data["field"]) == (-32602, "question")
