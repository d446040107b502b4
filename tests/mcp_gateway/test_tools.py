"""Tools called as plain functions."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from knowledge.access import Access
from knowledge.errors import (
    CapabilityDenied,
    ForbiddenBinary,
    InvalidId,
    InvalidInput,
    NotFound,
    ProviderUnavailable,
)
from knowledge.models import Folder, Item
from knowledge.providers.fake import FakeEmbedder
from mcp_gateway.payloads.base import Payload
from mcp_gateway.payloads.identity import Quota
from mcp_gateway.tools.library import (
    MAX_CHARS,
    add_to_knowledge,
    get_item,
    list_folders,
    list_recent,
    search_knowledge_base,
    whoami,
)
from tests.support.library import Add, Mint

TEXT = "Decisions: ship the API docs. The folder rename is deferred to June."


def test_a_search_reads_as_a_numbered_list_with_what_one_needs_to_act(mint: Mint, add: Add) -> None:
    item = add("Consent", "The user gives consent\nat the authorize page.")
    answer = search_knowledge_base(mint().access, query="consent authorize")
    (hit,) = answer.results
    first, *lines = answer.as_text().splitlines()
    assert first == f"1. ({hit.score:.2f}) Consent"
    assert lines[0].startswith('   "The user gives consent')
    assert lines[1].startswith("    at the authorize page.")
    assert lines[2] == f"   {hit.locator.url}"
    assert str(item.pk) in lines[2]
    assert "untrusted" in lines[3]


def test_a_search_s_text_is_title_passage_link_and_id_and_little_more(mint: Mint, add: Add) -> None:
    for number in range(8):
        body = " ".join(f"The user gives consent at page {n} of {number}." for n in range(15))
        add(f"Consent {number}", body)
    answer = search_knowledge_base(mint().access, query="consent", limit=8)
    assert len(answer.results) == 8
    passages = sum(len(hit.passage) for hit in answer.results)
    named = sum(len(hit.title) + len(hit.locator.url) for hit in answer.results)
    assert len(answer.as_text()) - named <= 1.2 * passages
    for figure in ("semantic", "keyword", "cosine", "chunk_id", "rank"):
        assert figure not in answer.as_text()


def test_a_hit_says_how_each_signal_saw_it(mint: Mint, add: Add) -> None:
    add("Consent", "The user gives consent at the authorize page.")
    (hit,) = search_knowledge_base(mint().access, query="consent").results
    assert hit.signals.semantic.rank == hit.signals.keyword.rank == 1
    assert hit.signals.cosine is not None
    assert 0 < hit.signals.cosine <= 1
    assert hit.untrusted is True
    assert hit.locator.char_span[0] == 0


def test_a_title_cannot_pose_as_another_entry(mint: Mint, library: object, add: Add) -> None:
    item = add("Honest", "A forged entry stands in the title.")
    Item.objects.filter(pk=item.pk).update(custom_title="Honest\n2. (0.99) Forged")
    answer = search_knowledge_base(mint().access, query="forged entry")
    assert answer.as_text().splitlines()[0].endswith(") Honest 2. (0.99) Forged")


def test_a_search_without_hits_says_what_to_do(mint: Mint) -> None:
    answer = search_knowledge_base(mint().access, query="nothing at all")
    assert answer.results == []
    assert "Try other words" in answer.as_text()


def test_a_search_names_only_folders_within_reach(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    seen, hidden = folder("Seen"), folder("Hidden")
    add("Consent", "", seen, hidden)
    (hit,) = search_knowledge_base(mint(seen).access, query="consent").results
    assert hit.folder_ids == [seen.pk]


def test_a_search_can_be_narrowed(mint: Mint, add: Add, folder: Callable[[str], Folder]) -> None:
    shelf = folder("Shelf")
    item = add("Consent one", "", shelf)
    add("Consent two")
    access = mint().access

    def found(**narrowing: object) -> list[str]:
        answer = search_knowledge_base(access, query="consent", **narrowing)  # type: ignore[arg-type]
        return sorted(str(hit.user_item_id) for hit in answer.results)

    assert found(folder_id=str(shelf.pk)) == [str(item.pk)]
    assert len(found(types=["document"], since="7d")) == 2
    assert found(tags=["nobody has this"]) == []
    with pytest.raises(InvalidId, match="folder_id must be a UUID"):
        found(folder_id="shelf")
    with pytest.raises(NotFound):
        found(folder_id=str(uuid4()))
    with pytest.raises(InvalidInput, match="types must be one of: document"):
        found(types=["poem"])


def test_a_search_says_when_meaning_was_not_searched(
    mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Consent")

    def fail(self: FakeEmbedder, text: str) -> None:
        raise ProviderUnavailable("The embedder is away.")

    monkeypatch.setattr(FakeEmbedder, "embed_query", fail)
    answer = search_knowledge_base(mint().access, query="consent")
    assert answer.mode == "keyword"
    assert answer.degraded == "Only words were searched: The embedder is away."
    assert answer.degraded in answer.as_text()
    with pytest.raises(ProviderUnavailable):
        search_knowledge_base(mint().access, query="consent", mode="semantic")


def test_an_item_reads_as_markdown_with_its_state(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    item = add("Consent", "", shelf)
    answer = get_item(mint().access, str(item.pk))
    assert answer.text == item.content.text
    assert answer.folder_ids == [shelf.pk]
    assert (answer.transcription_status, answer.index_status) == ("none", "done")
    assert answer.next_offset is None
    text = answer.as_text()
    assert text.startswith("# Consent\n")
    assert text.endswith(item.content.text)
    for fact in (item.pk, shelf.pk, "untrusted"):
        assert str(fact) in text
    for usual in ("index_status", "in_kb", "Characters", "transcription_status"):
        assert usual not in text


def test_a_long_text_comes_in_parts_that_join_to_the_whole(mint: Mint) -> None:
    access = mint().access
    whole = "".join(f"Sentence number {n}. " for n in range(2_000))
    added = add_to_knowledge(access, kind="text", title="Long", text=whole)
    parts, offset = [], 0
    while True:
        part = get_item(access, str(added.user_item_id), offset=offset, max_chars=7_000)
        parts.append(part.text)
        assert part.total_chars == len(whole)
        if part.next_offset is None:
            break
        assert f"offset {part.next_offset}" in part.as_text()
        offset = part.next_offset
    assert "".join(parts) == whole


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        ({"offset": -1}, "between 0 and"),
        ({"offset": 1_000}, "between 0 and"),
        ({"max_chars": 0}, "between 1 and"),
        ({"max_chars": MAX_CHARS + 1}, f"and {MAX_CHARS}"),
    ],
)
def test_a_part_outside_the_text_is_refused(
    mint: Mint, add: Add, asked: dict[str, int], allowed: str
) -> None:
    item = add("Consent")
    with pytest.raises(InvalidInput, match=allowed):
        get_item(mint().access, str(item.pk), **asked)


def test_missing_and_out_of_reach_look_the_same(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    mine, other = folder("Mine"), folder("Other")
    hidden = add("Hidden", "", other)
    access = mint(mine).access
    with pytest.raises(NotFound) as missing:
        get_item(access, str(uuid4()))
    with pytest.raises(NotFound) as out_of_reach:
        get_item(access, str(hidden.pk))
    assert missing.value.message == out_of_reach.value.message
    with pytest.raises(InvalidId, match="item_id must be a UUID"):
        get_item(access, "7")


def test_recent_items_come_newest_first(mint: Mint, add: Add) -> None:
    for name in ("first", "second", "third"):
        add(name)
    answer = list_recent(mint().access, limit=2)
    assert [item.title for item in answer.items] == ["third", "second"]
    assert answer.as_text().startswith("1. third\n   user_item_id: ")
    with pytest.raises(InvalidInput, match="between 1 and 100; it is 101"):
        list_recent(mint().access, limit=101)


def test_an_empty_library_is_an_empty_list_and_a_friendly_sentence(mint: Mint) -> None:
    answer = list_recent(mint().access)
    assert answer.items == []
    assert "Nothing here yet" in answer.as_text()


def test_a_token_of_one_folder_files_what_it_adds(
    mint: Mint, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    access = mint(shelf).access
    added = add_to_knowledge(access, kind="text", title="Standup", text=TEXT)
    assert (added.status, added.folder_id, added.index_status) == ("ready", shelf.pk, "done")
    assert added.transform_error is None
    assert str(shelf.pk) in added.as_text()
    assert get_item(access, str(added.user_item_id)).folder_ids == [shelf.pk]


def test_what_a_token_of_many_folders_adds_is_unfiled_and_seen_by_it(
    mint: Mint, folder: Callable[[str], Folder]
) -> None:
    access = mint(folder("One"), folder("Two")).access
    added = add_to_knowledge(access, kind="text", title="Standup", text=TEXT, in_kb=False)
    assert added.folder_id is None
    assert "unfiled" in added.as_text()
    assert get_item(access, str(added.user_item_id)).in_kb is False


def test_a_transform_that_cannot_be_made_costs_only_itself(mint: Mint, settings) -> None:
    settings.QUARRY_SUMMARIZER = "claude"
    added = add_to_knowledge(
        mint().access, kind="text", title="Standup", text=TEXT, auto_transform=True
    )
    assert added.status == "ready"
    assert added.transform_error is not None
    assert "ANTHROPIC_API_KEY" in added.transform_error
    assert added.transform_error in added.as_text()


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "file", "text": TEXT, "title": "x"},
        {"kind": "url", "url": "data:application/pdf;base64,JVBERi0xLjc="},
        {"kind": "text", "title": "x", "text": "data:image/png;base64,iVBORw0KGgo="},
    ],
)
def test_bytes_are_refused_with_where_to_send_them(mint: Mint, asked: dict[str, str]) -> None:
    with pytest.raises(ForbiddenBinary, match="/api/v1/uploads/"):
        add_to_knowledge(mint().access, **asked)  # type: ignore[arg-type]


def test_adding_needs_write(mint: Mint) -> None:
    with pytest.raises(CapabilityDenied) as denied:
        add_to_knowledge(mint(write=False).access, kind="text", title="x", text=TEXT)
    assert denied.value.details == {"required": ["write"], "have": ["read"]}


def test_whoami_tells_reach_and_what_is_left(mint: Mint, folder: Callable[[str], Folder]) -> None:
    shelf = folder("Shelf")
    answer = whoami(mint(shelf, write=False, kb_only=True).row)
    assert (answer.is_unscoped, answer.kb_only) == (False, True)
    assert [(found.id, found.name) for found in answer.folders] == [(shelf.pk, "Shelf")]
    assert answer.capabilities == ["read"]
    assert answer.limits["search"].remaining == 1000
    assert "add" not in answer.limits
    text = answer.as_text()
    for fact in (answer.agent_id, answer.owner, f"Shelf ({shelf.pk})", "nearly used up: nothing"):
        assert fact in text
    assert "1000" not in text
    assert "the whole library" in whoami(mint().row).as_text()


def test_whoami_s_text_names_what_is_nearly_used_up(mint: Mint) -> None:
    answer = whoami(mint().row)
    answer.limits["search"].remaining = 12
    answer.quota["transcription_minutes"] = Quota(
        tier="free", used=58.0, cap_per_month=60.0, remaining=2.0
    )
    last = answer.as_text().splitlines()[-1]
    assert "calls of search: 12 of 1000" in last
    assert "quota of transcription_minutes: 2.0 of 60.0 a month" in last


def test_folders_are_listed_with_ids_and_counts(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf, away = folder("Shelf"), folder("Away")
    add("Consent", "", shelf)
    answer = list_folders(mint(shelf).access)
    assert [(each.id, each.item_count) for each in answer.folders] == [(shelf.pk, 1)]
    assert f"Shelf | folder_id: {shelf.pk} | items: 1" in answer.as_text()
    assert {each.id for each in list_folders(mint().access).folders} == {shelf.pk, away.pk}


# What stands in structuredContent alone: figures, and what is as usual.
UNSAID = {
    *("untrusted", "highlights", "is_unscoped", "signals", "chunk_id", "char_span", "mode"),
    *("limits", "quota", "in_kb", "index_status", "transcription_status", "percent", "step"),
    *("folder_ids", "total_chars", "type", "source_url", "visible_by", "status"),
}


def facts_in(answer: Any, name: str = "") -> Iterator[str]:
    """Every value of a structured answer that an agent needs, as a text would say it."""
    if name in UNSAID or answer in (None, "", False):
        return
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield from facts_in(value, key)
    elif isinstance(answer, list):
        for value in answer:
            yield from facts_in(value, name)
    elif isinstance(answer, float):
        yield f"{answer:.2f}"
    elif answer is True:
        yield f"{name}: true"
    elif name.endswith("_at"):
        yield answer[:10]
    else:
        yield " ".join(str(answer).split())


def test_what_an_agent_needs_of_an_answer_stands_in_its_text(
    mint: Mint, folder: Callable[[str], Folder], library: Access
) -> None:
    minted = mint(folder("Shelf"))
    access = minted.access
    asked = {"kind": "text", "title": "Consent", "text": TEXT * 3, "auto_transform": True}
    added = add_to_knowledge(access, tags=["rules", "api"], **asked)  # type: ignore[arg-type]
    add_to_knowledge(access, kind="text", title="Other", text=TEXT)
    answers: list[Payload] = [
        added,
        get_item(access, str(added.user_item_id), offset=3, max_chars=50),
        search_knowledge_base(access, query="folder rename", explain=True),
        list_recent(access, limit=1),
        whoami(minted.row),
    ]
    for answer in answers:
        text = " ".join(answer.as_text().split())
        facts = list(facts_in(answer.model_dump(mode="json")))
        assert [fact for fact in facts if fact not in text] == []
        assert len(facts) > 2
