"""Remembering: one ask writes an item of a memory type, with all that it relates to."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Required, TypedDict, Unpack
from uuid import UUID

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput, QuarryError
from knowledge.indexing import preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest.batches import (
    attempt_each,
    for_all_fit,
    refuse_failed,
    refuse_wrong_count,
    write_together,
)
from knowledge.ingest.items import ItemOptions, NewText, create_text_items
from knowledge.memory.conflicts import Compared, Conflicts, near_duplicates
from knowledge.memory.relations import all_still_there, link, visible_items
from knowledge.models import (
    MEMORY_TYPES,
    Item,
    ItemType,
    Relation,
    RelationType,
)
from knowledge.models.attributes import check_attributes
from knowledge.models.key_locks import lock_keys
from knowledge.moderation import actors
from knowledge.moderation.findings import ScreeningResult, screen_value, screen_values
from knowledge.validation import as_id, clean_line, clean_tags, clean_text, one_of, refuse_blob

ENTITY_TYPES = tuple(str(each) for each in MEMORY_TYPES)
PREDICATES = ("supersedes", "contradicts", "requires", "supports", "decides")
MAX_MEMORY_TITLE = 200
MAX_CONTENT = 50_000
MAX_RELATED = 50

Link = tuple[RelationType, UUID]
"""What a new item is to be to another one."""


@dataclass(frozen=True, slots=True)
class RememberAnswer:
    """What was written: the item, what it was related to, and what is much like it."""

    item: Item
    folder_id: UUID | None
    links: list[Relation]
    conflicts: Conflicts
    findings: list[dict[str, Any]]

    @property
    def status(self) -> str | None:
        """Of a task, where it stands in its workflow."""
        status: str | None = self.item.attributes.get("status")
        return status

    @property
    def suspected(self) -> list[str]:
        return self.item.suspected


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedWords:
    """The words of a new item, checked but not screened yet."""

    title: str
    text: str
    type: ItemType
    attributes: Mapping[str, Any]
    tags: tuple[str, ...]
    field: str
    """What its caller calls the text."""

    @property
    def to_screen(self) -> dict[str, Any]:
        named = {"title": self.title, self.field: self.text, "tags": list(self.tags)}
        return {**named, **self.attributes}


@dataclass(frozen=True, slots=True)
class Draft:
    """An item that is ready to be written: checked, screened, cut and embedded."""

    words: CheckedWords
    screening: ScreeningResult
    ready: Prepared = field(repr=False)


class AskedMemory(TypedDict, total=False):
    """Something to remember, as its caller sent it; not checked yet."""

    title: Required[str]
    content: Required[str]
    entity_type: str
    category: str | None
    languages: Collection[str] | None
    tags: Collection[str] | None
    related_to: Collection[str] | None
    metadata: Mapping[str, Any] | None
    project: str | UUID | None
    priority: str | None
    assignees: Collection[str] | None
    due_date: str | None
    depends_on: Collection[str | UUID] | None


def add(access: Access, **asked: Unpack[AskedMemory]) -> RememberAnswer:
    """Remember something: with all its relations, or not at all."""
    access.require(Capability.WRITE)
    checked = _check(access, **asked)
    screening = screen_value(checked.words.to_screen).without_secrets()
    [answer] = _write(access, _prepare(access, [_Screened(checked, screening)]))
    return answer


def add_many(
    access: Access, entries: Sequence[AskedMemory | QuarryError], *, atomic: bool = False
) -> list[RememberAnswer | QuarryError]:
    """Remember many things, and say of each what became of it; none is compared with another."""
    access.require(Capability.WRITE)
    refuse_wrong_count(entries)
    checked = attempt_each(entries, lambda entry: _check(access, **entry))
    screened = for_all_fit(checked, _screen)
    if atomic:
        refuse_failed(screened)
    return for_all_fit(
        for_all_fit(screened, lambda some: _prepare(access, some)),
        lambda some: write_together(some, lambda each: _write(access, each), atomic=atomic),
    )


@dataclass(frozen=True, slots=True)
class _Checked:
    words: CheckedWords
    links: list[Link]


class _Screened(NamedTuple):
    checked: _Checked
    screening: ScreeningResult


@dataclass(frozen=True, slots=True)
class _Memory:
    """A draft, what it is to be related to, and what is much like it."""

    draft: Draft
    links: list[Link]
    conflicts: Conflicts


def _check(
    access: Access,
    *,
    title: str,
    content: str,
    entity_type: str = ItemType.EPISODE,
    tags: Collection[str] | None = None,
    related_to: Collection[str] | None = None,
    depends_on: Collection[str | UUID] | None = None,
    **told: Any,
) -> _Checked:
    kind = ItemType(one_of(entity_type, ENTITY_TYPES, field="entity_type"))
    project = told.get("project")
    attributes = check_attributes(
        kind, _without_none(**{**told, "project": project and str(project)})
    )
    links = _links(kind, related_to or (), attributes.get("project"), depends_on or ())
    refuse_wrong_targets(links, visible_items(access, [target for _, target in links]))
    words = _check_words(title=title, text=content, type=kind, attributes=attributes, tags=tags)
    return _Checked(words, links)


def _screen(checked: Sequence[_Checked]) -> list[_Screened | QuarryError]:
    """All of them together, for each by itself may keep other callers waiting."""
    results = screen_values([each.words.to_screen for each in checked])
    return attempt_each(
        [_Screened(each, result) for each, result in zip(checked, results, strict=True)],
        lambda each: each._replace(screening=each.screening.without_secrets()),
    )


def _prepare(access: Access, screened: Sequence[_Screened]) -> list[_Memory]:
    """The slow work for all of them together, before any row is locked."""
    checked = [each.checked for each in screened]
    ready = preparing.prepare_texts([(each.words.text, each.words.title) for each in checked])
    compared = [
        Compared(each.words.title, prepared, _superseded_ids(each.links))
        for each, prepared in zip(checked, ready, strict=True)
    ]
    conflicts = near_duplicates(access, compared)
    return [
        _Memory(Draft(each.words, screening, prepared), each.links, found)
        for (each, screening), prepared, found in zip(screened, ready, conflicts, strict=True)
    ]


def _superseded_ids(links: Collection[Link]) -> set[UUID]:
    return {target for predicate, target in links if predicate == RelationType.SUPERSEDES}


def _write(access: Access, memories: Sequence[_Memory]) -> list[RememberAnswer]:
    with all_still_there():
        if targets := {target for each in memories for _, target in each.links}:
            lock_keys(Item, targets)
        items = _write_drafts(access, [each.draft for each in memories])
        return [
            RememberAnswer(
                item,
                access.filing_folder_id,
                _create_relations(access, item, each.links),
                each.conflicts,
                each.draft.screening.orders,
            )
            for item, each in zip(items, memories, strict=True)
        ]


def draft_item(
    *,
    title: str,
    text: str,
    type: ItemType,
    attributes: Mapping[str, Any],
    tags: Iterable[str] = (),
    field: str = "content",
) -> Draft:
    """Check, screen and embed a new item: the slow work, before any row is locked."""
    words = _check_words(
        title=title, text=text, type=type, attributes=attributes, tags=tags, field=field
    )
    screening = screen_value(words.to_screen).without_secrets()
    return Draft(words, screening, preparing.prepare(words.text, words.title))


def _check_words(
    *,
    title: str,
    text: str,
    type: ItemType,
    attributes: Mapping[str, Any],
    tags: Iterable[str] | None,
    field: str = "content",
) -> CheckedWords:
    title = clean_line(title, field="title", longest=MAX_MEMORY_TITLE)
    text = clean_content(text, field=field)
    return CheckedWords(
        title=title,
        text=text,
        type=type,
        attributes=attributes,
        tags=tuple(clean_tags(list(tags or ()))),
        field=field,
    )


def clean_content(text: str, *, field: str) -> str:
    """A text to remember, of a length we take, and no file in the guise of one."""
    text = clean_text(text, field=field, shortest=1, longest=MAX_CONTENT)
    refuse_blob(text)
    return text


def write_draft(access: Access, draft: Draft, *, folder_id: UUID | None = None) -> Item:
    """Write a draft within the caller's transaction; a suspected one is marked."""
    [item] = _write_drafts(access, [draft], folder_id=folder_id)
    return item


def _write_drafts(
    access: Access, drafts: Sequence[Draft], *, folder_id: UUID | None = None
) -> list[Item]:
    texts = [NewText(draft.words.text, _options(draft, folder_id), draft.ready) for draft in drafts]
    items = create_text_items(access, texts)
    for item, draft in zip(items, drafts, strict=True):
        actors.screen_the_rest(item, draft.screening)
    return items


def _options(draft: Draft, folder_id: UUID | None) -> ItemOptions:
    words = draft.words
    return ItemOptions(
        title=words.title,
        tags=words.tags,
        type=words.type,
        attributes=words.attributes,
        suspicions=draft.screening.orders,
        folder_id=folder_id,
    )


def dependencies(given: Collection[str | UUID]) -> list[Link]:
    """The tasks that a task waits for, each once."""
    _refuse_too_many(given, "depends_on")
    ids = [as_id(each, field="depends_on") for each in given]
    return _each_once([(RelationType.DEPENDS_ON, each) for each in ids], field="depends_on")


def refuse_wrong_targets(links: Collection[Link], targets: Collection[Item]) -> None:
    """A project is a project, and a task waits for tasks."""
    for (type, _), target in zip(links, targets, strict=True):
        if type == RelationType.BELONGS_TO and target.type != ItemType.PROJECT:
            raise InvalidInput(
                f"project must be the id of a project; this one is of type {target.type}.",
                field="project",
            )
        if type == RelationType.DEPENDS_ON and target.type != ItemType.TASK:
            raise InvalidInput(
                f"depends_on takes ids of tasks; {target.pk} is of type {target.type}.",
                field="depends_on",
            )


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _links(
    kind: ItemType,
    related_to: Collection[str],
    project: str | None,
    depends_on: Collection[str | UUID],
) -> list[Link]:
    if depends_on and kind != ItemType.TASK:
        raise InvalidInput(
            "depends_on is for a task; anything else names what it needs as requires:<id> in "
            "related_to.",
            field="depends_on",
        )
    _refuse_too_many(related_to, "related_to")
    related = _each_once([_link(each) for each in related_to], field="related_to")
    belongs = [(RelationType.BELONGS_TO, UUID(project))] if project else []
    return [*related, *belongs, *dependencies(depends_on)]


def _link(given: str) -> Link:
    predicate, colon, target = given.rpartition(":") if isinstance(given, str) else ("", "", given)
    if not colon:
        return RelationType.RELATED_TO, as_id(target, field="related_to")
    if predicate not in PREDICATES:
        raise InvalidInput(
            f"related_to takes ids, or predicate:id with one of: {', '.join(PREDICATES)}.",
            field="related_to",
            allowed=list(PREDICATES),
        )
    return RelationType(predicate), as_id(target, field="related_to")


def _refuse_too_many(given: Collection[object], field: str) -> None:
    if len(given) > MAX_RELATED:
        raise InvalidInput(f"{field} may be at most {MAX_RELATED}.", field=field)


def _each_once(links: list[Link], *, field: str) -> list[Link]:
    for number, (type, target) in enumerate(links):
        if (type, target) in links[:number]:
            raise InvalidInput(f"{field} names {target} as {type} twice.", field=field)
    return links


def _create_relations(access: Access, item: Item, links: Collection[Link]) -> list[Relation]:
    """Checks the targets again in this transaction: they may be out of reach by now."""
    if not links:
        return []
    targets = visible_items(access, [target for _, target in links])
    return [
        link(access, item, target, type=type)
        for (type, _), target in zip(links, targets, strict=True)
    ]
