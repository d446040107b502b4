"""What takes a place in an answer: only what is related, and the same text only once."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.memory.remembering import add as remember
from knowledge.memory.task_changes import manage
from knowledge.models import Folder, Item
from knowledge.retrieval import duplicates
from knowledge.retrieval import search as search_module
from knowledge.retrieval.scope import Narrowing
from tests.support.contributions import agent_of, contributed_skill, found, skill
from tests.support.edges import over_mcp, over_rest
from tests.support.library import Add, Mint
from tests.support.searching import search, search_memory

MODES = ("semantic", "keyword", "hybrid")
SPEECH = "Granite is cut along its grain, and the saw is cooled with water all day long."


def titles(access: Access, **asked: Any) -> list[str]:
    return [hit.item.title for hit in search(access, **asked).hits]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fold", [True, False])
def test_what_no_signal_calls_related_is_left_out(
    library: Access, add: Add, mode: str, fold: bool
) -> None:
    add("Stone", "granite and marble")
    for number in range(5):
        add(f"Other {number}", f"whales sing far below number {number}")
    asked = {"query": "granite", "mode": mode, "limit": 20, "fold": fold}
    hits = search(library, **asked).hits
    assert [hit.item.title for hit in hits][:1] == ["Stone"]
    assert all(hit.score > 0 for hit in hits)
    assert search(library, query="zyzzyva", mode=mode).hits == []
    remembered = search_memory(library, query="granite", mode=mode, use_enhanced=False)
    assert all(result.score > 0 for result in remembered.results)
    assert remembered.total == len(remembered.results) == len(hits)


def test_a_narrow_scope_gets_all_its_related_hits(
    library: Access, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    for number in range(40):
        add(f"Away {number}", f"granite granite granite number {number}")
    for number in range(6):
        add(f"Here {number}", f"a little granite {number}", shelf)
    narrow = Narrowing(folder_id=shelf.pk)
    assert len(titles(library, query="granite", narrowing=narrow, limit=6)) == 6


@pytest.mark.parametrize("mode", MODES)
def test_the_same_text_takes_one_place_and_names_its_copies(
    library: Access, add: Add, mode: str
) -> None:
    first = add("Talk", SPEECH)
    again = add("Talk, another recording", SPEECH.upper().replace(" ", "\n"))
    add("Other", "granite of another quarry")
    hits = search(library, query="granite saw", mode=mode).hits
    shown = {hit.item.pk: hit for hit in hits}
    assert len(shown.keys() & {first.pk, again.pk}) == 1
    [best] = [hit for hit in hits if hit.item.pk in (first.pk, again.pk)]
    assert {best.item.pk, *(copy.user_item_id for copy in best.copies)} == {first.pk, again.pk}
    everything = titles(library, query="granite saw", mode=mode, fold=False)
    assert {"Talk", "Talk, another recording"} <= set(everything)


def test_copies_leave_their_places_to_others(library: Access, add: Add) -> None:
    for number in range(30):
        add(f"Copy {number}", SPEECH)
    for number in range(8):
        add(f"Other {number}", f"granite from quarry {number} is sold by the tonne")
    hits = search(library, query="granite cut with a saw", limit=5).hits
    assert len(hits) == 5
    assert sum(hit.item.title.startswith("Copy") for hit in hits) == 1
    following = search(library, query="granite cut with a saw", limit=5, offset=5).hits
    assert len({hit.item.pk for hit in (*hits, *following)}) == 9


def test_a_page_further_down_is_folded_as_one_near_the_top(
    library: Access, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        add(f"Copy {number}", SPEECH)
    for number in range(6):
        add(f"Other {number}", "\n\n".join([f"granite from quarry {number} is sold. " * 25] * 3))

    def pages(*, fold: bool) -> list[tuple[object, ...]]:
        return [
            (hit.chunk.pk, hit.score, hit.passage, hit.similar_chunk_ids, hit.copies)
            for offset in (0, 3, 6)
            for hit in search(library, query="granite saw", limit=3, offset=offset, fold=fold).hits
        ]

    expected = {fold: pages(fold=fold) for fold in (True, False)}
    assert expected[True] != expected[False]
    monkeypatch.setattr(search_module, "_NEAR_THE_TOP", 0)
    assert {fold: pages(fold=fold) for fold in (True, False)} == expected
    monkeypatch.setattr(duplicates, "READ_TO_FOLD", 0)  # then by the very same text alone
    copies = [len(hit.copies) for hit in search(library, query="granite saw", limit=20).hits]
    assert max(copies) == 11


def test_only_copies_within_reach_are_named(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    seen, hidden = folder("Seen"), folder("Hidden")
    add("Mine", SPEECH, seen)
    add("Hidden", SPEECH, hidden)
    token = mint(seen)
    [hit] = search(token.access, query="granite saw").hits
    assert hit.copies == ()
    [result] = search_memory(token.access, query="granite saw").results
    assert result.copies == []


def test_both_edges_name_copies(mint: Mint, add: Add) -> None:
    first, again = add("Talk", SPEECH), add("Again", SPEECH)
    token = mint(toolsets=["library", "memory"])
    for answer in (
        over_rest(token, "GET", "search", query="granite saw")[1],
        over_mcp(token, "search_knowledge_base", query="granite saw")[1],
        over_mcp(token, "search", query="granite saw")[1],
    ):
        [row] = answer["results"]
        [copy] = row["copies"]
        assert {row["user_item_id"], copy["user_item_id"]} == {str(first.pk), str(again.pk)}
        assert copy["title"] in ("Talk", "Again")


def test_memory_counts_copies_once_and_keeps_what_has_another_title(
    library: Access, add: Add
) -> None:
    for number in range(3):
        add(f"Copy {number}", SPEECH)
    for title in ("Cut the stone", "Sell the stone"):
        remember(library, title=title, content="Granite, as the title says.")
    answer = search_memory(library, query="granite", limit=2)
    assert answer.total == 3
    assert answer.has_more
    assert (answer.graph_count, answer.document_count) == (2, 1)
    rest = search_memory(library, query="granite", limit=2, offset=2)
    [talk] = [each for each in (*answer.results, *rest.results) if each.type == "document"]
    assert len(talk.copies) == 2
    assert not rest.has_more


def archived_task(library: Access) -> Item:
    project = remember(library, title="Quarry", content="The yard.", entity_type="project").item
    made = remember(
        library,
        title="Cut granite",
        content="Cut the granite blocks.",
        entity_type="task",
        project=str(project.pk),
    ).item
    manage(library, action="update_task", entity_id=made.pk, data={"status": "todo"})
    manage(library, action="archive_task", entity_id=made.pk, data=None)
    return made


def test_archived_tasks_are_found_by_their_status_alone(library: Access, add: Add) -> None:
    task = archived_task(library)
    put_away = add("Put away", "granite blocks that were put away")
    Item.objects.filter(pk=put_away.pk).update(archived=True)

    def ids(**asked: Any) -> list[object]:
        return [each.id for each in search_memory(library, query="granite blocks", **asked).results]

    assert ids() == []
    assert ids(status="todo,doing") == []
    assert ids(status="archived") == ids(status="todo,archived") == [task.pk]
    assert titles(library, query="granite blocks") == []


def test_a_shared_skill_is_read_by_the_id_that_search_gave(mint: Mint, stranger: User) -> None:
    made = contributed_skill(agent_of(mint), visibility="network")["id"]
    eve = mint(by=stranger, toolsets=["registry", "library", "memory"])
    [hit] = found(eve, "kp_search_skill", "review the build", min_quality=0.0)
    assert hit["id"] == made
    for outcome, answer in (
        over_mcp(eve, "get_item", item_id=made),
        over_mcp(eve, "fetch", id=made),
        over_rest(eve, "GET", f"items/{made}"),
    ):
        assert outcome == "ok", answer
        assert answer["text"]
    hidden = contributed_skill(agent_of(mint, name="own"), skill("Own"), visibility="private")["id"]
    assert over_mcp(eve, "get_item", item_id=hidden)[0] == "not_found"
    assert over_rest(eve, "PATCH", f"items/{made}", title="Mine")[0] == "not_found"
    assert over_rest(eve, "DELETE", f"items/{made}")[0] == "not_found"


def test_a_copied_skill_takes_one_place_which_is_the_caller_s_own(
    mint: Mint, stranger: User
) -> None:
    ada, eve = agent_of(mint), agent_of(mint, by=stranger, name="other")
    first = contributed_skill(ada, visibility="network")["id"]
    second = contributed_skill(eve, visibility="network")["id"]
    for agent, own, other in ((ada, first, second), (eve, second, first)):
        [hit] = found(agent, "kp_search_skill", "review the build", min_quality=0.0)
        assert hit["id"] == own
        assert [copy["user_item_id"] for copy in hit["copies"]] == [other]
