"""A skill or unit as those who may read it get it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import F, Func, JSONField, QuerySet, Value

from knowledge.models import Item, ItemType, Quality, Version
from knowledge.models.item import ItemQuerySet
from knowledge.retrieval.duplicates import Copy

TYPES = {
    "ReasoningTrace": ItemType.REASONING_TRACE,
    "ToolCallPattern": ItemType.TOOL_CALL_PATTERN,
    "ExpertSOP": ItemType.EXPERT_SOP,
}
"""The item type of each type of unit."""

TYPE_NAMES = {item_type: name for name, item_type in TYPES.items()}
MAX_CONTENT = 200_000
"""Characters of content in one answer; results beyond that have no content, only their facts."""


class WithItem:
    """What an answer about an item says of it."""

    __slots__ = ()
    item: Item

    @property
    def id(self) -> UUID:
        return self.item.pk

    @property
    def quality_score(self) -> float | None:
        return self.item.quality

    @property
    def quarantined(self) -> bool:
        """Whether it is held back from others; to them it is not there."""
        return self.item.quarantined

    @property
    def suspected(self) -> list[str]:
        return self.item.suspected


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedItem(WithItem):
    """An item, one of its versions and, if it was searched for, how well it matched."""

    item: Item
    version_row: Version | None
    score: float | None = None
    shows_content: bool = True
    copies: tuple[Copy, ...] = ()
    untrusted: ClassVar[bool] = True

    @property
    def type(self) -> str:
        """The name of a unit's type; a skill has none."""
        return TYPE_NAMES.get(ItemType(self.item.type), "")

    @property
    def name(self) -> str:
        return self._attribute("name") or self.item.title

    @property
    def description(self) -> str:
        return self._attribute("description") or ""

    @property
    def domain(self) -> str | None:
        return self._attribute("domain")

    @property
    def author(self) -> str:
        return self._attribute("author") or ""

    @property
    def license(self) -> str:
        return self._attribute("license") or ""

    @property
    def allowed_tools(self) -> list[str]:
        return list(self.item.attributes.get("allowed_tools", ()))

    @property
    def unit_id(self) -> str | None:
        """The id that its maker gave it."""
        return self._attribute("unit_id")

    @property
    def schema_version(self) -> str | None:
        return self._attribute("schema_version")

    @property
    def tags(self) -> list[str]:
        return self.item.tags

    @property
    def quality(self) -> Quality | None:
        return getattr(self.item, "quality_parts", None)

    @property
    def visibility(self) -> str:
        return self.item.visibility

    @property
    def contributor(self) -> str:
        """The agent that contributed it first."""
        return self.item.added_by_agent

    @property
    def version(self) -> int:
        return self.version_row.number if self.version_row else 0

    @property
    def version_label(self) -> str:
        return self.version_row.label if self.version_row else ""

    @property
    def digest(self) -> str:
        return self.version_row.digest if self.version_row else ""

    @property
    def files(self) -> list[str]:
        """The paths of what comes with a skill."""
        return sorted(getattr(self.version_row, "paths", ()))

    @property
    def content(self) -> Any:
        """The whole SKILL.md, or the whole unit; None where an answer has no room for it."""
        return self.whole if self.shows_content else None

    @property
    def whole(self) -> Any:
        is_skill = self.item.type == ItemType.SKILL
        if self.version_row is None:
            return self.item.content.text if is_skill else None
        return self.version_row.document["skill_md"] if is_skill else self.version_row.document

    @property
    def created_at(self) -> datetime:
        return self.item.created_at

    @property
    def updated_at(self) -> datetime:
        return self.item.updated_at

    def _attribute(self, name: str) -> str | None:
        said = self.item.attributes.get(name)
        return None if said is None else str(said)


def with_shown_columns(items: ItemQuerySet) -> ItemQuerySet:
    """Items with the columns that an answer reads.

    What a version holds is read from there; a skill without one, which only an import can leave,
    loads its text when that is read.
    """
    return items.select_related("content").only(
        *("type", "custom_title", "content__title", "tags", "attributes", "visibility", "quality"),
        *("quarantined", "suspicions", "added_by_agent", "created_at", "updated_at"),
    )


def with_current_versions(
    items: Collection[Item], scores: Mapping[UUID, float]
) -> list[PublishedItem]:
    """Items with their current versions; the first always whole, others while there is room."""
    versions = latest_of([item.pk for item in items])
    results: list[PublishedItem] = []
    room = MAX_CONTENT
    for item in items:
        version = versions.get(item.pk)
        each = PublishedItem(item=item, version_row=version, score=scores.get(item.pk))
        room -= len(str(each.whole))
        is_shown = room >= 0 or not results
        results.append(replace(each, shows_content=is_shown))
    return results


def without_files(versions: QuerySet[Version]) -> QuerySet[Version]:
    """Versions with the paths of their files: what is in them can be megabytes."""
    paths = Func(
        F("files"),
        Value("$.keyvalue().key"),
        function="jsonb_path_query_array",
        template="%(function)s(%(expressions)s::jsonpath)",
        output_field=JSONField(),
    )
    read = versions.only("item_id", "number", "label", "digest", "document")
    return read.annotate(paths=paths)


def latest_of(items: list[UUID]) -> dict[UUID, Version]:
    """The current version of each."""
    versions = without_files(Version.objects.filter(item__in=items))
    newest = versions.order_by("item_id", "-number").distinct("item_id")
    return {version.item_id: version for version in newest}
