"""What the registry's tools answer: JSON as text, in the shapes that their reference has."""

import json
from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from mcp_types import ContentBlock, TextContent
from pydantic import JsonValue

from knowledge.registry.searching import SearchPage
from knowledge.registry.versioning import ContributionAnswer
from mcp_gateway.payloads.base import Copy, Payload, Shape


class FoundSkill(Shape):
    listed = "id name domain tags quality_score content contributor copies"

    id: UUID
    name: str
    description: str
    domain: str | None
    tags: list[str]
    quality_score: float | None
    content: str | None
    score: float
    version: int
    version_label: str
    visibility: str
    contributor: str
    copies: list[Copy]
    files: list[str]
    suspected: list[str]
    quarantined: bool
    untrusted: Literal[True] = True


class FoundUnit(Shape):
    listed = "id type domain quality_score content contributor copies"

    id: UUID
    type: str
    name: str
    domain: str | None
    quality_score: float | None
    content: dict[str, JsonValue] | None
    score: float
    version: int
    schema_version: str | None
    visibility: str
    contributor: str
    copies: list[Copy]
    suspected: list[str]
    quarantined: bool
    untrusted: Literal[True] = True


class FoundSkills(Payload):
    results: list[FoundSkill]
    degraded: str | None

    @classmethod
    def of(cls, found: SearchPage) -> "FoundSkills":
        results = [FoundSkill.model_validate(each) for each in found.results]
        return cls(results=results, degraded=found.degraded)

    def as_text(self) -> str:
        return _array(self.results)

    def as_content(self) -> list[ContentBlock]:
        return _with_note(self.as_text(), self.degraded)


class FoundUnits(Payload):
    results: list[FoundUnit]
    degraded: str | None

    @classmethod
    def of(cls, found: SearchPage) -> "FoundUnits":
        results = [FoundUnit.model_validate(each) for each in found.results]
        return cls(results=results, degraded=found.degraded)

    def as_text(self) -> str:
        return _array(self.results)

    def as_content(self) -> list[ContentBlock]:
        return _with_note(self.as_text(), self.degraded)


class Finding(Shape):
    kind: str
    rule: str
    sentence: str
    path: str


class Original(Shape):
    """What somebody else has shared already, and this is a copy of."""

    id: UUID
    contributor: str


class ContributedSkill(Payload):
    listed = "id quality_score version quarantined findings"

    id: UUID
    quality_score: float | None
    version: int
    quarantined: bool
    suspected: list[str]
    findings: list[Finding]
    brought_back: bool
    copy_of: Original | None

    @classmethod
    def of(cls, made: ContributionAnswer) -> "ContributedSkill":
        return cls(**_shared_fields(made))

    def as_text(self) -> str:
        return self.model_dump_json()


class ContributedUnit(ContributedSkill):
    listed = "id quality_score version quarantined findings factors"

    factors: dict[str, JsonValue]

    @classmethod
    def of(cls, made: ContributionAnswer) -> "ContributedUnit":
        return cls(**_shared_fields(made), factors=made.factors)


def _shared_fields(made: ContributionAnswer) -> dict[str, Any]:
    return {
        "id": made.id,
        "quality_score": made.quality_score,
        "version": made.version.number,
        "quarantined": made.quarantined,
        "suspected": made.suspected,
        "findings": made.findings,
        "brought_back": made.brought_back,
        "copy_of": made.copy_of and Original.model_validate(made.copy_of),
    }


def _array(results: Sequence[FoundSkill | FoundUnit]) -> str:
    """What an agent acts on, as an array: the structured content has to be an object."""
    rows = [each.model_dump(mode="json", include={*each.listed.split()}) for each in results]
    for row in rows:
        if not row["copies"]:
            del row["copies"]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _with_note(array: str, degraded: str | None) -> list[ContentBlock]:
    note: list[ContentBlock] = [TextContent(text=degraded)] if degraded else []
    return [TextContent(text=array), *note]
