"""What the tools that write memory answer."""

from typing import Literal
from uuid import UUID

from knowledge.memory import conflicts, remembering, task_changes
from knowledge.models import Relation
from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.fact_lines import UNTRUSTED, join_named, one_line

SUSPECTED = "Stored and found as ever, but marked as suspected:"


Finding = dict[str, str]
"""What in a text reads like an order to a model: its kind, rule, sentence and path."""


class Conflict(Shape):
    id: UUID
    title: str
    similarity: float

    @classmethod
    def of(cls, conflict: conflicts.Conflict) -> "Conflict":
        return cls.model_validate(conflict)

    def as_text(self) -> str:
        return f"- {self.similarity:.2f} {one_line(self.title)} | id: {self.id}"


class Link(Shape):
    """A relation from the new item to another one."""

    listed = "id type target_id"

    id: UUID
    type: str
    target_id: UUID
    target_title: str

    @classmethod
    def of(cls, relation: Relation) -> "Link":
        return cls(
            id=relation.pk,
            type=relation.type,
            target_id=relation.target_id,
            target_title=relation.target.title,
        )

    def as_text(self) -> str:
        title = one_line(self.target_title)
        return f"- {self.type}: {title} | target_id: {self.target_id} | relation id: {self.id}"


class Remembered(Payload):
    listed = "id conflicts links_made suspected findings"

    id: UUID
    type: str
    title: str
    status: str | None
    folder_id: UUID | None
    index_status: str
    conflicts: list[Conflict]
    degraded: str | None
    links_made: list[Link]
    suspected: list[str]
    findings: list[Finding]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, remembered: remembering.RememberAnswer) -> "Remembered":
        item = remembered.item
        return cls(
            id=item.pk,
            type=item.type,
            title=item.title,
            status=remembered.status,
            folder_id=remembered.folder_id,
            index_status=item.index_status,
            conflicts=[Conflict.of(each) for each in remembered.conflicts.found],
            degraded=remembered.conflicts.degraded,
            links_made=[Link.of(each) for each in remembered.links],
            suspected=remembered.suspected,
            findings=remembered.findings,
        )

    def links(self) -> list[tuple[UUID, str]]:
        named_items = [(each.target_id, each.target_title) for each in self.links_made]
        alike = [(each.id, each.title) for each in self.conflicts]
        return [(self.id, self.title), *named_items, *alike]

    def as_text(self) -> str:
        facts = join_named(
            id=self.id,
            type=self.type,
            status=self.status,
            folder_id=self.folder_id or "none (unfiled)",
            index_status=self.index_status,
        )
        parts = [f"Remembered: {one_line(self.title)}\n{facts}"]
        if self.links_made:
            parts.append("\n".join(["Links made:", *(link.as_text() for link in self.links_made)]))
        if self.conflicts:
            alike = [conflict.as_text() for conflict in self.conflicts]
            hint = "Much like it (consider supersedes:<id> or contradicts:<id>):"
            parts.append("\n".join([hint, *alike]))
        parts += _suspicion_lines(self.findings)
        parts += [self.degraded] if self.degraded else []
        if self.links_made or self.conflicts:
            parts.append(f"Titles: {UNTRUSTED.lower()}")
        return "\n\n".join(parts)


class Managed(Payload):
    """A task as an action left it."""

    listed = "id status next_moves depends_on episode_id findings"

    action: str
    id: UUID
    title: str
    status: str
    next_moves: list[str]
    project: UUID | None
    priority: str | None
    assignees: list[str]
    due_date: str | None
    blocked_reason: str | None
    depends_on: list[UUID]
    episode_id: UUID | None
    suspected: list[str]
    findings: list[Finding]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, managed: task_changes.TaskAnswer) -> "Managed":
        task, said = managed.task, managed.task.attributes
        return cls(
            action=managed.action,
            id=task.pk,
            title=task.title,
            status=managed.status,
            next_moves=list(managed.next_moves),
            project=managed.project.pk if managed.project else None,
            priority=said.get("priority"),
            assignees=said.get("assignees", []),
            due_date=said.get("due_date"),
            blocked_reason=said.get("blocked_reason"),
            depends_on=managed.depends_on,
            episode_id=managed.episode.pk if managed.episode else None,
            suspected=managed.suspected,
            findings=managed.findings,
        )

    def links(self) -> list[tuple[UUID, str]]:
        return [(self.id, self.title)]

    def as_text(self) -> str:
        left_out = ("title", "findings", "untrusted", "next_moves")
        facts = {name: getattr(self, name) for name in type(self).model_fields}
        told = join_named(**{name: value for name, value in facts.items() if name not in left_out})
        moves = ", ".join(self.next_moves) or "none"
        head = f"Task: {one_line(self.title)}\n{told}\nnext_moves: {moves}"
        return "\n\n".join([head, *_suspicion_lines(self.findings), f"Words: {UNTRUSTED.lower()}"])


def _suspicion_lines(findings: list[Finding]) -> list[str]:
    if not findings:
        return []
    lines = [f"- {join_named(**finding)}" for finding in findings]
    return ["\n".join([SUSPECTED, *lines])]
