"""Hiding leaves no trace: every answer is the one there would be if the hidden had never been."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from knowledge.access import Access, Capability
from knowledge.errors import NotFound, QuarryError
from knowledge.library.items import create_folder, file_item
from knowledge.memory.contexts import context
from knowledge.memory.relations import contradictions_among, relations_of
from knowledge.memory.remembering import add
from knowledge.models import Content, Item, ItemType, Relation, RelationType
from knowledge.retrieval.caches import empty_caches
from mcp_gateway.payloads.memory_graph import ContextPack, Explored
from mcp_gateway.payloads.memory_search import FoundMemories
from tests.support.searching import explore, search_memory

FOLDERS = ("A", "B")
TYPES = ("episode", "rule", "pattern", "task", "project")
STATUSES = ("todo", "doing", "done", "blocked")
LABELS = ("decision", "gotcha", "lamps")
WORDS = ("lamp", "tide", "crane", "rope")
TOKEN = uuid4()


@dataclass(frozen=True)
class Sketch:
    """An item to be made."""

    is_foreign: bool
    folders: tuple[str, ...]
    is_own_addition: bool
    in_kb: bool
    type: str
    status: str
    label: str
    word: str


@dataclass(frozen=True)
class Plan:
    """A library with a stranger's beside it, how its items hang together, and who looks."""

    items: list[Sketch]
    relations: list[tuple[int, int, str, float]]
    scope: frozenset[str]
    kb_only: bool


sketches = st.builds(
    Sketch,
    is_foreign=st.sampled_from([False, False, False, True]),
    folders=st.sampled_from([(), ("A",), ("B",), FOLDERS]),
    is_own_addition=st.booleans(),
    in_kb=st.sampled_from([True, True, True, False]),
    type=st.sampled_from(TYPES),
    status=st.sampled_from(STATUSES),
    label=st.sampled_from(LABELS),
    word=st.sampled_from(WORDS),
)
relations = st.tuples(
    st.integers(0, 6),
    st.integers(0, 6),
    st.sampled_from([*RelationType.values, "depends_on", "supersedes", "contradicts", "decides"]),
    st.sampled_from([0.3, 1.0]),
)
plans = st.builds(
    Plan,
    items=st.lists(sketches, min_size=3, max_size=5),
    relations=st.lists(relations, max_size=10),
    scope=st.sampled_from([frozenset("A"), frozenset("B"), frozenset("AB"), frozenset[str]()]),
    kb_only=st.booleans(),
)


@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(plan=plans)
def test_an_answer_is_as_if_the_hidden_had_never_been(
    plan: Plan, library: Access, stranger: User
) -> None:
    with undone():
        access, items = made(plan, library, Access.whole_library(stranger.pk))
        seen = set(Item.objects.visible_to(access).values_list("pk", flat=True))
        hidden = [item.pk for item in items if item.pk not in seen]
        told = everything(access, sorted(seen))
        refusals = {refusal(access, each) for each in (*hidden[:2], uuid4())}
        assert len(refusals) == 1
        forget_ever(hidden)
        note(f"{len(seen)} seen, {len(hidden)} hidden")
        after = everything(access, sorted(seen))
        assert {ask: told[ask] for ask in told if told[ask] != after[ask]} == {}


def test_the_property_would_notice_a_leak(library: Access, stranger: User) -> None:
    """With the whole library for a scope, what is forgotten was seen before."""
    lone = Sketch(False, (), False, True, "rule", "todo", "decision", "lamp")
    plan = Plan([lone, lone, lone], [(0, 1, "contradicts", 1.0)], frozenset(), kb_only=False)
    _, items = made(plan, library, Access.whole_library(stranger.pk))
    kept = [items[0].pk, items[2].pk]
    told = everything(library, kept)
    forget_ever([items[1].pk])
    after = everything(library, kept)
    changed = {ask[0] for ask in told if told[ask] != after[ask]}
    assert {"list", "related", "traverse", "context", "relations_of"} <= changed
    assert {"contested_among", "search", "conflicts"} <= changed


def made(plan: Plan, library: Access, theirs: Access) -> tuple[Access, list[Item]]:
    """The planned world, and the access of who looks at it."""
    folders = {name: create_folder(library, name).pk for name in FOLDERS}
    text = "The harbour keeps a {} while storm {} is near."
    projects = {
        owner.owner_id: add(
            owner, title="Project 9", content=text.format("quay", 9), entity_type="project"
        ).item
        for owner in (library, theirs)
    }
    items: list[Item] = []
    for number, sketch in enumerate(plan.items):
        owner = theirs if sketch.is_foreign else library
        # All texts have as many words: how long a library's texts are on the whole is no secret.
        item = add(
            owner,
            title=f"Note {number}",
            content=text.format(sketch.word, number),
            entity_type=sketch.type,
            category=sketch.label,
            project=projects[owner.owner_id].pk if sketch.type == "task" else None,
        ).item
        describe(item, sketch)
        if sketch.folders and not sketch.is_foreign:
            file_item(library, item.pk, [folders[name] for name in sketch.folders])
        items.append(item)
    relate_all(plan, items)
    access = Access(
        owner_id=library.owner_id,
        capabilities=frozenset(Capability),
        folder_ids=frozenset(folders[name] for name in plan.scope),
        kb_only=plan.kb_only,
        token_id=TOKEN,
    )
    return access, [*items, *projects.values()]


def describe(item: Item, sketch: Sketch) -> None:
    if sketch.type == ItemType.TASK:
        item.attributes |= {"status": sketch.status}
    Item.objects.filter(pk=item.pk).update(
        attributes=item.attributes,
        in_kb=sketch.in_kb,
        unfiled_by=TOKEN if sketch.is_own_addition and not sketch.folders else None,
    )


def relate_all(plan: Plan, items: list[Item]) -> None:
    """Straight into the table: here, circles and the like need no one's leave."""
    count = len(items)
    wanted = {(s % count, t % count, kind): weight for s, t, kind, weight in plan.relations}
    Relation.objects.bulk_create(
        Relation(
            owner_id=items[source].owner_id,
            source=items[source],
            target=items[target],
            type=kind,
            weight=weight,
        )
        for (source, target, kind), weight in wanted.items()
        if source != target and items[source].owner_id == items[target].owner_id
    )


def forget_ever(hidden: list[UUID]) -> None:
    """Take the hidden out of the world with all that was said of them."""
    contents = list(Item.objects.filter(pk__in=hidden).values_list("content", flat=True))
    for task in Item.objects.filter(attributes__project__in=[str(each) for each in hidden]):
        del task.attributes["project"]
        Item.objects.filter(pk=task.pk).update(attributes=task.attributes)
    Item.objects.filter(pk__in=hidden).delete()
    Content.objects.filter(pk__in=contents).delete()
    empty_caches()


def everything(access: Access, seen: list[UUID]) -> dict[tuple[object, ...], Any]:
    """All that the caller can be told, by what it asks."""
    goal = "Keep the harbour lamp and the crane safe in the storm"
    asks: dict[tuple[object, ...], Callable[[], Any]] = {
        ("list",): lambda: explored(access, limit=2),
        ("list", "done"): lambda: explored(access, status="done,archived", types=["task"]),
        ("context",): lambda: ContextPack.of(context(access, goal=goal)).model_dump(mode="json"),
        ("context", "project"): lambda: contexts_of_projects(access, goal),
        ("contested_among",): lambda: contradictions_among(access, seen),
        ("search",): lambda: searched(access, goal),
        ("search", "plain"): lambda: searched(access, goal, use_enhanced=False),
        ("conflicts",): lambda: conflicts(access),
    }
    for each in seen:
        for mode in ("related", "traverse", "dependencies"):
            asks[mode, each] = partial(explored, access, mode=mode, entity_id=each, depth=3)
        asks["relations_of", each] = partial(related, access, each)
    return {name: answered(ask) for name, ask in asks.items()}


def answered(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except QuarryError as error:
        return error.code, error.message


def explored(access: Access, **asked: Any) -> Any:
    return Explored.of(explore(access, **asked)).model_dump(mode="json")


def contexts_of_projects(access: Access, goal: str) -> Any:
    projects = Item.objects.visible_to(access).filter(type=ItemType.PROJECT).order_by("pk")
    built = [
        context(access, goal=goal, project=each.pk, intent="debug", token_budget=400)
        for each in projects
    ]
    return [ContextPack.of(each).model_dump(mode="json") for each in built]


def related(access: Access, item_id: UUID) -> Any:
    page = relations_of(access, item_id)
    return page.total, [(each.pk, each.source.title, each.target.title) for each in page.relations]


def searched(access: Access, query: str, **asked: Any) -> Any:
    found = search_memory(access, query=query, boost_recent=False, **asked)
    return FoundMemories.of(found).model_dump(mode="json")


def conflicts(access: Access) -> Any:
    """What one is told of near-duplicates on adding; nothing is kept."""
    with undone():
        text = "The harbour keeps a lamp while storm 0 is near."
        added = add(access, title="Note 0", content=text)
        return [(each.id, each.similarity) for each in added.conflicts.found]


def refusal(access: Access, item_id: UUID) -> tuple[str, ...]:
    """How every ask refuses an item."""
    said = []
    for mode in ("related", "traverse", "dependencies"):
        with pytest.raises(NotFound) as refused:
            explore(access, mode=mode, entity_id=item_id)
        said.append(refused.value.message)
    with pytest.raises(NotFound) as refused:
        relations_of(access, item_id)
    said.append(refused.value.message)
    with pytest.raises(NotFound) as refused:
        context(access, goal="anything", project=item_id)
    said.append(refused.value.message)
    with pytest.raises(NotFound) as refused:
        add(access, title="x", content="x", related_to=[str(item_id)])
    said.append(refused.value.message)
    assert contradictions_among(access, [item_id]) == {}
    return tuple(said)


@contextmanager
def undone() -> Iterator[None]:
    """Nothing that is done in here stays."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
