"""Remembering: one ask writes an item of a memory type, with all that it relates to."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput
from knowledge.indexing import preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest.items import ItemOptions, create_text_item
from knowledge.memory.conflicts import Conflicts, near_duplicates
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
from knowledge.moderation.findings import ScreeningResult, screen_value
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
class Draft:
    """An item that is ready to be written: checked, screened, cut and embedded."""

    title: str
    text: str
    type: ItemType
    attributes: Mapping[str, Any]
    tags: tuple[str, ...]
    found: ScreeningResult
    ready: Prepared = field(repr=False)


def add(
    access: Access,
    *,
    title: str,
    content: str,
    entity_type: str = ItemType.EPISODE,
    category: str | None = None,
    languages: Collection[str] | None = None,
    tags: Collection[str] | None = None,
    related_to: Collection[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    project: str | UUID | None = None,
    priority: str | None = None,
    assignees: Collection[str] | None = None,
    due_date: str | None = None,
    depends_on: Collection[str | UUID] | None = None,
) -> RememberAnswer:
    """Remember something: with all its relations, or not at all."""
    access.require(Capability.WRITE)
    kind = ItemType(one_of(entity_type, ENTITY_TYPES, field="entity_type"))
    attributes = check_attributes(
        kind,
        _without_none(
            category=category,
            languages=languages,
            metadata=metadata,
            project=project and str(project),
            priority=priority,
            assignees=assignees,
            due_date=due_date,
        ),
    )
    links = _links(kind, related_to or (), attributes.get("project"), depends_on or ())
    refuse_wrong_targets(links, visible_items(access, [target for _, target in links]))
    draft = draft_item(title=title, text=content, type=kind, attributes=attributes, tags=tags or ())
    replaced = {target for predicate, target in links if predicate == RelationType.SUPERSEDES}
    conflicts = near_duplicates(access, draft.title, draft.ready, except_for=replaced)
    with all_still_there():
        lock_keys(Item, [target for _, target in links])
        item = write_draft(access, draft)
        made = _create_relations(access, item, links)
    return RememberAnswer(item, access.filing_folder_id, made, conflicts, draft.found.orders)


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
    title = clean_line(title, field="title", longest=MAX_MEMORY_TITLE)
    text = clean_content(text, field=field)
    kept_tags = tuple(clean_tags(list(tags)))
    words = {"title": title, field: text, "tags": list(kept_tags), **attributes}
    return Draft(
        title=title,
        text=text,
        type=type,
        attributes=attributes,
        tags=kept_tags,
        found=screen_value(words).without_secrets(),
        ready=preparing.prepare(text, title),
    )


def clean_content(text: str, *, field: str) -> str:
    """A text to remember, of a length we take, and no file in the guise of one."""
    text = clean_text(text, field=field, shortest=1, longest=MAX_CONTENT)
    refuse_blob(text)
    return text


def write_draft(access: Access, draft: Draft, *, folder_id: UUID | None = None) -> Item:
    """Write a draft within the caller's transaction; a suspected one is marked."""
    options = ItemOptions(
        title=draft.title,
        tags=draft.tags,
        type=draft.type,
        attributes=draft.attributes,
        suspicions=draft.found.orders,
        folder_id=folder_id,
    )
    item = create_text_item(access, draft.text, options, draft.ready)
    actors.screen_the_rest(item, draft.found)
    return item


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
    targets = visible_items(access, [target for _, target in links])
    return [
        link(access, item, target, type=type)
        for (type, _), target in zip(links, targets, strict=True)
    ]
