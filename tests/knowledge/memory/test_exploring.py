"""Memory as a list and as a graph: each mode, each filter, and what stays hidden."""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from knowledge.access import Access
from knowledge.errors import InvalidId, InvalidInput, NotFound
from knowledge.memory.exploring import Exploration
from knowledge.models import Folder, Item, ItemType, RelationType
from mcp_gateway.tools import memory_graph
from tests.support.edges import MISSING, over_mcp, over_rest
from tests.support.graphs import depending, ids_of, item_of, items_of, related, task_of
from tests.support.library import Mint
from tests.support.rollback import each_case
from tests.support.searching import explore
from tokens.models import Toolset


def titles(explored: Exploration) -> list[str]:
    return [node.item.title for node in explored.nodes]


def test_a_list_shows_memory_newest_first(library: Access) -> None:
    items_of(library.owner_id, ["old", "new"])
    item_of(library.owner_id, "read", type=ItemType.DOCUMENT)
    found = explore(library)
    assert (titles(found), found.total, found.has_more) == (["new", "old"], 2, False)
    assert titles(explore(library, types=["document"])) == ["read"]
    found = explore(library, limit=1)
    assert (titles(found), found.total, found.has_more) == (["new"], 2, True)


def test_a_list_can_be_narrowed_by_all_that_items_say_of_themselves(library: Access) -> None:
    project = item_of(library.owner_id, "Harbour", type=ItemType.PROJECT)
    told: dict[str, Any] = {"languages": ["python"], "category": "errors"}
    item_of(library.owner_id, "rule", type=ItemType.RULE, attributes=told)
    task_of(library.owner_id, "doing", status="doing", attributes={"project": str(project.pk)})
    task_of(library.owner_id, "todo")
    assert titles(explore(library, language="Python")) == ["rule"]
    assert titles(explore(library, category="errors", types=["rule", "task"])) == ["rule"]
    assert titles(explore(library, project=project.pk)) == ["doing"]
    assert titles(explore(library, status="doing, todo")) == ["todo", "doing"]
    assert titles(explore(library, status="done")) == []


def test_what_is_archived_is_listed_only_when_asked_for(library: Access) -> None:
    item_of(library.owner_id, "put away", archived=True)
    task_of(library.owner_id, "over", status="archived")
    task_of(library.owner_id, "open")
    assert titles(explore(library)) == ["open"]
    assert titles(explore(library, status="archived")) == ["over", "put away"]
    found = explore(library, status="todo,archived")
    assert titles(found) == ["open", "over", "put away"]
    assert [node.metadata.get("archived") for node in found.nodes] == [None, None, True]


def test_what_is_suspected_is_shown_to_its_owner_with_its_mark(library: Access) -> None:
    near, held, far = items_of(library.owner_id, ["near", "held", "far"])
    related((near, held), (held, far))
    rule = {"rule": "false_lesson"}
    Item.objects.filter(pk=held.pk).update(quarantined=True, suspicions=[rule, rule])
    assert titles(explore(library)) == ["far", "held", "near"]
    (shown,) = explore(library, mode="related", entity_id=near.pk).nodes
    assert shown.metadata["suspected"] == ["false_lesson"]
    assert explore(library, mode="traverse", entity_id=near.pk, depth=3).total == 2


def test_what_was_superseded_says_by_what_the_caller_sees(
    library: Access, mint: Mint, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    old = item_of(library.owner_id, "old", shelf)
    new, newer = items_of(library.owner_id, ["new", "newer"])
    Item.objects.filter(pk=newer.pk).update(archived=True)
    related((new, old), (newer, old), type=RelationType.SUPERSEDES)
    (node,) = [node for node in explore(library).nodes if node.item == old]
    assert node.superseded_by == new.pk
    (node,) = explore(mint(shelf).access).nodes
    assert node.superseded_by is None


def test_related_items_tell_how_they_are_related(library: Access) -> None:
    centre, a, b, c = items_of(library.owner_id, ["centre", "a", "b", "c"])
    related((centre, a), weight=0.5)
    related((b, centre), type=RelationType.SUPPORTS, weight=0.9)
    related((centre, b), type=RelationType.DECIDES, weight=0.2)
    related((a, c))
    found = explore(library, mode="related", entity_id=centre.pk)
    assert (titles(found), found.total) == (["b", "a"], 2)
    steps = [(step.type, step.direction, step.weight, step.to) for step in found.nodes[0].relations]
    assert steps == [("supports", "in", 0.9, b.pk), ("decides", "out", 0.2, b.pk)]
    assert [node.distance for node in found.nodes] == [1, 1]
    decided = explore(library, mode="related", entity_id=centre.pk, relationship_types=["decides"])
    assert [step.type for node in decided.nodes for step in node.relations] == ["decides"]
    assert titles(explore(library, mode="related", entity_id=centre.pk, types=["task"])) == []


def test_only_relations_in_force_are_walked(library: Access) -> None:
    centre, ended, later, held = items_of(library.owner_id, ["centre", "ended", "later", "held"])
    now, day = timezone.now(), timedelta(days=1)
    related((centre, ended), valid_from=now - 2 * day, valid_until=now - day)
    related((centre, later), valid_from=now + day)
    related((centre, held), valid_until=now + day)
    for mode in ("related", "traverse"):
        assert titles(explore(library, mode=mode, entity_id=centre.pk)) == ["held"]


def test_a_walk_goes_as_deep_as_asked_and_tells_its_ways(library: Access) -> None:
    a, b, c, d, e = items_of(library.owner_id, "abcde")
    related((a, b), (c, b), (c, d), (d, e), weight=0.5)
    by_depth = [
        titles(explore(library, mode="traverse", entity_id=a.pk, depth=n)) for n in (1, 2, 3)
    ]
    assert by_depth == [["b"], ["b", "c"], ["b", "c", "d"]]
    found = explore(library, mode="traverse", entity_id=a.pk, depth=3, types=["episode"])
    assert [node.distance for node in found.nodes] == [1, 2, 3]
    way = [(step.direction, step.to) for step in found.nodes[2].relations]
    assert way == [("out", b.pk), ("in", c.pk), ("out", d.pk)]


def test_a_walk_through_a_diamond_comes_to_each_item_once_by_the_strongest_way(
    library: Access,
) -> None:
    top, left, right, bottom = items_of(library.owner_id, ["top", "left", "right", "bottom"])
    related((top, left), (top, right), (bottom, top))
    related((left, bottom), weight=0.2)
    related((right, bottom), weight=0.8)
    found = explore(library, mode="traverse", entity_id=left.pk, depth=3)
    assert {node.item.title: node.distance for node in found.nodes} == {
        "top": 1,
        "bottom": 1,
        "right": 2,
    }
    (way,) = [node.relations for node in found.nodes if node.item == right]
    assert [step.to for step in way] == [top.pk, right.pk]


def test_filters_narrow_what_is_shown_and_not_the_way_there(library: Access) -> None:
    a, b = items_of(library.owner_id, "ab")
    rule = item_of(library.owner_id, "rule", type=ItemType.RULE)
    related((a, b), (b, rule))
    found = explore(library, mode="traverse", entity_id=a.pk, depth=2, types=["rule"])
    assert (titles(found), found.total) == (["rule"], 1)


def test_no_way_leads_through_what_is_hidden(
    library: Access, mint: Mint, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    near, far = items_of(library.owner_id, ["near", "far"], shelf)
    hidden = item_of(library.owner_id, "hidden")
    related((near, hidden), (hidden, far))
    reader = mint(shelf).access
    assert titles(explore(library, mode="traverse", entity_id=near.pk, depth=2)) == [
        "hidden",
        "far",
    ]
    for mode in ("related", "traverse"):
        found = explore(reader, mode=mode, entity_id=near.pk, depth=3)
        assert (found.nodes, found.total, found.has_more) == ([], 0, False)
    assert explore(reader).total == 2


def test_a_hub_is_counted_in_full_and_shown_up_to_the_limit(library: Access) -> None:
    hub = item_of(library.owner_id, "hub")
    spokes = items_of(library.owner_id, (f"spoke {n}" for n in range(2_500)))
    related(*((hub, spoke) for spoke in spokes))
    found = explore(library, mode="related", entity_id=hub.pk, limit=200)
    assert (len(found.nodes), found.total, found.has_more) == (200, 2_500, True)
    with CaptureQueriesContext(connection) as queries:
        walked = explore(library, mode="traverse", entity_id=spokes[0].pk, depth=3, limit=10)
    assert len(queries) < 12
    assert (len(walked.nodes), walked.has_more, walked.is_cut) == (10, True, True)
    assert walked.total == 2_000


def test_the_work_of_a_walk_does_not_grow_with_the_items(library: Access) -> None:
    start = item_of(library.owner_id, "start")

    def queries_for(count: int) -> int:
        near = items_of(library.owner_id, (f"near {n}" for n in range(count)))
        far = items_of(library.owner_id, (f"far {n}" for n in range(count)))
        related(*((start, each) for each in near), *zip(near, far, strict=True))
        depending(*zip(near, far, strict=True))
        with CaptureQueriesContext(connection) as queries:
            explore(library, mode="traverse", entity_id=start.pk, depth=3)
            explore(library, mode="related", entity_id=start.pk)
        return len(queries)

    assert queries_for(1) == queries_for(30)


def test_what_must_be_done_first_comes_first(library: Access) -> None:
    ship, paint, build, plan = (
        task_of(library.owner_id, title) for title in ("ship", "paint", "build", "plan")
    )
    depending((ship, paint), (ship, build), (paint, build), (build, plan))
    found = explore(library, mode="dependencies", entity_id=ship.pk)
    assert titles(found) == ["plan", "build", "paint", "ship"]
    assert titles(explore(library, mode="dependencies", entity_id=build.pk)) == ["plan", "build"]
    assert found.cycles == []


def test_a_task_is_ready_when_all_it_depends_on_is_done(library: Access) -> None:
    goal = task_of(library.owner_id, "goal")
    done = task_of(library.owner_id, "done", status="done")
    archived = task_of(library.owner_id, "archived", status="archived")
    stuck = task_of(library.owner_id, "stuck", status="blocked")
    doing = task_of(library.owner_id, "doing", status="doing")
    note = item_of(library.owner_id, "note")
    depending((goal, doing), (goal, stuck), (doing, done), (doing, archived), (doing, note))
    found = explore(library, mode="dependencies", entity_id=goal.pk)
    states = {node.item.title: node.task for node in found.nodes}
    flags = {title: (state.ready, state.blocked) for title, state in states.items() if state}
    assert flags == {
        "goal": (False, True),
        "done": (False, False),
        "archived": (False, False),
        "stuck": (False, True),
        "doing": (True, False),
    }
    assert states["note"] is None
    assert states["goal"] is not None
    assert states["goal"].waits_for == [stuck.pk, doing.pk]
    assert states["doing"] is not None
    assert states["doing"].depends_on == ids_of([done, archived, note])


def test_a_project_has_all_its_tasks_and_what_they_depend_on(library: Access) -> None:
    project = item_of(library.owner_id, "Harbour", type=ItemType.PROJECT)
    mine = {"project": str(project.pk)}
    second = task_of(library.owner_id, "second", attributes=mine)
    task_of(library.owner_id, "alone", status="done", attributes=mine)
    first = task_of(library.owner_id, "first", attributes={"project": str(uuid4())})
    task_of(library.owner_id, "elsewhere")
    depending((second, first))
    found = explore(library, mode="dependencies", entity_id=project.pk)
    assert titles(found) == ["first", "second", "alone"]
    assert titles(
        explore(library, mode="dependencies", entity_id=project.pk, project=project.pk)
    ) == ["second", "alone"]
    found = explore(library, mode="dependencies", entity_id=project.pk, status="todo", limit=1)
    assert (titles(found), found.total, found.has_more) == (["first"], 2, True)


def test_cycles_are_named_and_their_tasks_blocked(library: Access) -> None:
    a, b, c, outside = (task_of(library.owner_id, title) for title in ("a", "b", "c", "outside"))
    depending((a, b), (b, c), (c, a), (c, outside))
    found = explore(library, mode="dependencies", entity_id=b.pk)
    assert titles(found)[0] == "outside"
    assert [[item.title for item in cycle] for cycle in found.cycles] == [["a", "b", "c"]]
    flags = {node.item.title: node.task.blocked for node in found.nodes if node.task}
    assert flags == {"outside": False, "a": True, "b": True, "c": True}


def test_a_hidden_dependency_is_none(
    library: Access, mint: Mint, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    last, first = (task_of(library.owner_id, title, shelf) for title in ("last", "first"))
    hidden = task_of(library.owner_id, "hidden")
    depending((last, hidden), (hidden, first), (first, last))
    assert len(explore(library, mode="dependencies", entity_id=last.pk).cycles) == 1
    found = explore(mint(shelf).access, mode="dependencies", entity_id=last.pk)
    assert (titles(found), found.total, found.cycles) == (["last"], 1, [])
    assert found.nodes[0].task is not None
    assert found.nodes[0].task.ready


def test_a_long_chain_of_dependencies_takes_few_queries(library: Access) -> None:
    tasks = items_of(library.owner_id, map(str, range(300)), type=ItemType.TASK)
    depending(*pairwise(tasks))
    with CaptureQueriesContext(connection) as queries:
        found = explore(library, mode="dependencies", entity_id=tasks[0].pk, limit=2)
    assert (titles(found), found.total) == (["299", "298"], 300)
    assert len(queries) < 12


def test_only_tasks_and_projects_have_dependencies(library: Access) -> None:
    rule = item_of(library.owner_id, "rule", type=ItemType.RULE)
    with pytest.raises(InvalidInput, match="of type rule") as refused:
        explore(library, mode="dependencies", entity_id=rule.pk)
    assert refused.value.details["field"] == "entity_id"


# Over both edges ------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"mode": "psychic"}, "mode", "list, related, traverse, dependencies"),
    ({"mode": "related"}, "entity_id", 'required when mode is "related"'),
    ({"mode": "traverse"}, "entity_id", 'required when mode is "traverse"'),
    ({"mode": "dependencies"}, "entity_id", 'required when mode is "dependencies"'),
    ({"entity_id": MISSING}, "entity_id", "list takes none"),
    ({"types": ["poem"]}, "types", "pattern"),
    ({"relationship_types": ["likes"]}, "relationship_types", "supersedes"),
    ({"depth": 0}, "depth", "between 1 and 3"),
    ({"depth": 4}, "depth", "between 1 and 3"),
    ({"limit": 0}, "limit", "between 1 and 200"),
    ({"limit": 201}, "limit", "between 1 and 200"),
    ({"status": "todo,soon"}, "status", "backlog, todo"),
    ({"status": ""}, "status", "backlog, todo"),
    ({"language": ""}, "language", "between 1 and 100"),
    ({"category": "x" * 101}, "category", "between 1 and 100"),
    ({"offset": 1}, "offset", "limit"),
]


@each_case("asked, field, told", WRONG)
def test_a_wrong_value_is_refused_with_what_is_allowed(
    mint: Mint, asked: dict[str, Any], field: str, told: str
) -> None:
    token = mint(toolsets=[Toolset.MEMORY])
    code, message = over_mcp(token, "explore", **asked)
    assert (code, field in message, told in message) == ("invalid_body", True, True)
    answer = token.client.get("/api/v1/explore", asked)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert told in answer.json()["message"]


@pytest.mark.parametrize("field", ["entity_id", "project"])
def test_an_id_that_is_none_is_refused(mint: Mint, field: str) -> None:
    token = mint(toolsets=[Toolset.MEMORY])
    asked = {"mode": "related", "entity_id": MISSING, field: "soon"}
    refused = ("invalid_id", f"{field} must be a UUID.")
    assert over_mcp(token, "explore", **asked) == over_rest(token, "GET", "explore", **asked)
    assert over_mcp(token, "explore", **asked) == refused


@pytest.mark.parametrize("mode", ["related", "traverse", "dependencies"])
def test_what_is_missing_foreign_or_out_of_scope_is_the_same_not_found(
    mint: Mint, library: Access, stranger: User, folder: Callable[[str], Folder], mode: str
) -> None:
    token = mint(folder("Shelf"), toolsets=[Toolset.MEMORY])
    foreign, unfiled = task_of(stranger.pk, "theirs"), task_of(library.owner_id, "unfiled")
    answers = {
        ask(entity_id)
        for entity_id in (MISSING, str(foreign.pk), str(unfiled.pk))
        for ask in (
            lambda each: over_mcp(token, "explore", mode=mode, entity_id=each),
            lambda each: over_rest(token, "GET", "explore", mode=mode, entity_id=each),
        )
    }
    assert answers == {("not_found", "No such item, or it is out of this token's reach.")}


@pytest.fixture
def work(library: Access) -> dict[str, UUID]:
    """A project of two tasks in a circle, an old rule and the new one."""
    project = item_of(library.owner_id, "Harbour", type=ItemType.PROJECT)
    mine = {"project": str(project.pk), "languages": ["python"], "category": "lights"}
    one, two = (task_of(library.owner_id, title, attributes=mine) for title in ("one", "two"))
    old, new = items_of(library.owner_id, ["old", "new"], type=ItemType.RULE, tags=["lamp"])
    depending((one, two), (two, one))
    related((new, old), type=RelationType.SUPERSEDES, weight=0.5)
    related((one, new))
    return {"project": project.pk, "one": one.pk, "old": old.pk}


ASKED: list[dict[str, Any]] = [
    {},
    {"types": ["rule", "project"], "limit": 1},
    {"language": "python", "category": "lights", "status": "todo,done"},
    {"mode": "related", "entity_id": "old"},
    {"mode": "traverse", "entity_id": "one", "depth": 2},
    {"mode": "traverse", "entity_id": "one", "depth": 3, "relationship_types": ["related_to"]},
    {"mode": "dependencies", "entity_id": "one"},
    {"mode": "dependencies", "entity_id": "project", "project": "project"},
]


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_both_edges_answer_the_same(
    mint: Mint, work: dict[str, UUID], asked: dict[str, Any]
) -> None:
    token = mint(toolsets=[Toolset.MEMORY])
    named = {n: str(work[v]) if n in ("entity_id", "project") else v for n, v in asked.items()}
    rest, mcp = over_rest(token, "GET", "explore", **named), over_mcp(token, "explore", **named)
    assert rest == mcp
    assert rest[0] == "ok"
    assert rest[1]["entities"]
    assert rest[1]["untrusted"] is True


def test_the_text_of_a_walk_has_the_same_facts(mint: Mint, work: dict[str, UUID]) -> None:
    access = mint().access
    text = memory_graph.explore(access, mode="dependencies", entity_id=str(work["one"])).as_text()
    for fact in ("one (task)", "blocked: true", "status: todo", "languages: python", "A cycle"):
        assert fact in text
    text = memory_graph.explore(access, mode="related", entity_id=str(work["old"])).as_text()
    assert "relations: in supersedes 0.5 to" in text
    assert "1 of 1 by related." in text
    assert "tags: lamp" in text
    assert "untrusted" in text
    assert "Nothing here" in memory_graph.explore(access, status="done").as_text()


def test_a_title_cannot_pose_as_another_entry(mint: Mint, library: Access) -> None:
    item_of(library.owner_id, "Honest\n2. Forged (rule)")
    assert (
        memory_graph.explore(mint().access).as_text().splitlines()[0]
        == "1. Honest 2. Forged (rule) (episode)"
    )


def test_ids_of_the_wrong_form_are_refused_by_the_tool(mint: Mint) -> None:
    with pytest.raises(InvalidId):
        memory_graph.explore(mint().access, mode="related", entity_id="nonsense")
    with pytest.raises(NotFound):
        memory_graph.explore(mint().access, mode="related", entity_id=MISSING)
