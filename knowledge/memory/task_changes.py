"""Work on tasks: moves by the workflow's table, changes, notes and what was learned."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput
from knowledge.indexing import preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest.items import rewrite_item
from knowledge.ledger import changes
from knowledge.memory.actions import TaskAction, read_action
from knowledge.memory.relations import all_still_there, end, link, lock_item, visible_items
from knowledge.memory.remembering import (
    MAX_MEMORY_TITLE,
    Draft,
    draft_item,
    refuse_wrong_targets,
    write_draft,
)
from knowledge.memory.workflow import moves_from, why_not
from knowledge.models import (
    Filing,
    Folder,
    Item,
    ItemType,
    Relation,
    RelationType,
)
from knowledge.models.attributes import merge_attributes
from knowledge.models.locking import lock_content
from knowledge.moderation import actors, quarantine
from knowledge.moderation.findings import screen_value

_FIELDS = ("attributes", "archived", "tags", "custom_title")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAnswer:
    """A task as an action left it, and what was written beside it."""

    action: str
    task: Item
    project: Item | None
    """Only if the caller sees it."""
    depends_on: list[UUID]
    episode: Item | None
    findings: list[dict[str, Any]]

    @property
    def status(self) -> str:
        return _status(self.task)

    @property
    def next_moves(self) -> tuple[str, ...]:
        return moves_from(self.status)

    @property
    def suspected(self) -> list[str]:
        """By which rules the task or what was written beside it is suspected."""
        beside = self.episode.suspected if self.episode else []
        return list(dict.fromkeys([*self.task.suspected, *beside]))


def manage(
    access: Access, *, action: str, entity_id: UUID, data: Mapping[str, Any] | None = None
) -> TaskAnswer:
    """Do one thing with a task; whoever comes second is refused by the state it has then."""
    access.require(Capability.WRITE)
    asked = read_action(action, data)
    task = _visible_task(access, entity_id, asked)
    _refuse_illegal(asked, task)
    _refuse_wrong_links(access, asked, task)
    found = screen_value(asked.words).without_secrets()
    ready = _prepare_text(asked, task)
    draft = _draft(access, asked, task)
    with all_still_there():
        lock_content(task.content_id)  # before the item, to avoid deadlock
        task = lock_item(access, entity_id)
        _refuse_illegal(asked, task)
        _change(access, asked, task)
        _rewrite_text(access, asked, task, ready)
        _relate(access, asked, task)
        quarantine.suspect(access, task, found.orders, reworded=asked.words)
        if asked.text is not None:
            actors.screen_the_rest(task, found)
        episode = _write_beside(access, asked, task, draft)
    beside = draft.screening.orders if draft else []
    return _answer_of(access, asked, task, episode, [*found.orders, *beside])


def _visible_task(access: Access, entity_id: UUID, asked: TaskAction) -> Item:
    task = visible_items(access, [entity_id])[0]
    if task.type != ItemType.TASK:
        raise InvalidInput(
            f"{asked.action} is for tasks, and this is of type {task.type}.", field="entity_id"
        )
    return task


def _refuse_illegal(asked: TaskAction, task: Item) -> None:
    if asked.status is None:
        return
    status = _status(task)
    if reason := why_not(asked.action, status, asked.status):
        raise InvalidInput(reason, field="status", status=status, allowed=list(moves_from(status)))


def _refuse_wrong_links(access: Access, asked: TaskAction, task: Item) -> None:
    if (RelationType.DEPENDS_ON, task.pk) in asked.links:
        raise InvalidInput("A task cannot wait for itself.", field="depends_on")
    refuse_wrong_targets(asked.links, visible_items(access, [target for _, target in asked.links]))


# The slow work, before any row is held ---------------------------------------------------------


def _prepare_text(asked: TaskAction, task: Item) -> Prepared | None:
    if asked.title is None and asked.text is None:
        return None
    return preparing.prepare(asked.text or task.content.text, asked.title or task.title)


def _draft(access: Access, asked: TaskAction, task: Item) -> Draft | None:
    """What is said about a task, as an episode of the same project."""
    saying = asked.saying
    if saying is None:
        return None
    project, languages = _project(access, task), task.attributes.get("languages")
    inherited = {"languages": languages, "project": project and str(project.pk)}
    return draft_item(
        title=f"{saying.opening}: {task.title}"[:MAX_MEMORY_TITLE],
        text=saying.text,
        type=ItemType.EPISODE,
        attributes=merge_attributes(inherited, {"category": saying.category}),
        field=saying.field,
    )


# Within the transaction, which holds the task --------------------------------------------------


def _change(access: Access, asked: TaskAction, task: Item) -> None:
    before = changes.values_of(task, _FIELDS)
    new: dict[str, Any] = dict(asked.attributes)
    if asked.status is not None:
        new = {"blocked_reason": None, **new, "status": asked.status}
    task.attributes = merge_attributes(task.attributes, new)
    task.archived = task.archived or asked.status == "archived"
    task.tags = task.tags if asked.tags is None else asked.tags
    task.custom_title = task.custom_title if asked.title is None else ""
    task.save(update_fields=[*_FIELDS, "updated_at"])
    changes.item_changed(access, task, before)


def _rewrite_text(access: Access, asked: TaskAction, task: Item, ready: Prepared | None) -> None:
    if asked.title is None and asked.text is None:
        return
    title = asked.title or task.content.title
    rewrite_item(access, task, title=title, text=asked.text or task.content.text, prepared=ready)


def _relate(access: Access, asked: TaskAction, task: Item) -> None:
    if asked.project is not None:
        _replace(access, task, RelationType.BELONGS_TO, {asked.project[1]})
    if asked.depends_on is not None:
        wanted = {target for _, target in asked.depends_on}
        _replace(access, task, RelationType.DEPENDS_ON, wanted)


def _replace(access: Access, task: Item, type: RelationType, wanted: set[UUID]) -> None:
    """Have the task lead to these and no others; a dependency that the caller does not see stays,
    but a task has one project."""
    there = task.relations_out.filter(type=type, valid_until=None)
    if type != RelationType.BELONGS_TO:
        there = there.visible_to(access)
    for relation in there.exclude(target__in=wanted):
        end(access, relation)
    for target in visible_items(access, sorted(wanted)):
        link(access, task, target, type=type)


def _write_beside(
    access: Access, asked: TaskAction, task: Item, draft: Draft | None
) -> Item | None:
    """An episode in the folders of the task, as far as the caller sees them."""
    if draft is None or asked.saying is None:
        return None
    filed = Filing.objects.visible_to(access).filter(item=task).order_by("folder")
    first, *others = filed.values_list("folder", flat=True) or [None]
    episode = write_draft(access, draft, folder_id=first)
    folders = Folder.objects.visible_to(access).select_for_update().filter(pk__in=others)
    filings = [Filing.objects.create(item=episode, folder=folder) for folder in folders]
    changes.item_filed(access, episode, filings, unfiled_by=None)
    link(access, episode, task, type=asked.saying.relation)
    if project := _project(access, task):
        link(access, episode, project, type=RelationType.BELONGS_TO)
    return episode


def _status(task: Item) -> str:
    return str(task.attributes.get("status", "backlog"))


def _project(access: Access, task: Item) -> Item | None:
    """The task's project, if the caller sees that too."""
    belongs = (
        Relation.objects.visible_to(access)
        .in_force()
        .filter(source=task, type=RelationType.BELONGS_TO)
    )
    relation = belongs.select_related("target__content").defer("target__content__text").first()
    return relation.target if relation else None


def _answer_of(
    access: Access,
    asked: TaskAction,
    task: Item,
    episode: Item | None,
    findings: list[dict[str, Any]],
) -> TaskAnswer:
    depends = (
        Relation.objects.visible_to(access)
        .in_force()
        .filter(source=task, type=RelationType.DEPENDS_ON)
    )
    return TaskAnswer(
        action=asked.action,
        task=task,
        project=_project(access, task),
        depends_on=sorted(depends.values_list("target", flat=True)),
        episode=episode,
        findings=findings,
    )
