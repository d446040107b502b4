"""Sharing skills and knowledge units: each is parsed, screened and stored."""

from collections.abc import Mapping
from typing import Any

from knowledge.access import Access, Capability
from knowledge.models import ItemType, Visibility
from knowledge.registry import bundles
from knowledge.registry.contribution_screening import screen_skill, screen_unit
from knowledge.registry.published_items import TYPES
from knowledge.registry.skill_format import Skill, read_skill, skill_digest
from knowledge.registry.unit_format import Unit, read_unit
from knowledge.registry.versioning import ContributionAnswer, Draft, contribute
from knowledge.validation import one_of


def contribute_skill(
    access: Access,
    *,
    skill_md_content: str,
    visibility: str | None = None,
    files: Mapping[str, Any] | None = None,
    keep_private: bool = False,
) -> ContributionAnswer:
    """Share a skill. One of the same name within the caller's own reach gets a new version.

    A new one without a visibility is for whom its file says, else for the network; to keep it
    private is to share it with nobody, whatever its file says.
    """
    access.require(Capability.WRITE)
    asked = _visibility(visibility)
    skill = read_skill(skill_md_content)
    bundle = bundles.read_bundle(files)
    draft = Draft(
        type=ItemType.SKILL,
        key={"name": skill.name},
        shared_key=False,
        title=skill.name,
        text=skill.text,
        label=skill.version,
        tags=skill.tags,
        attributes=skill.attributes,
        document={"skill_md": skill.skill_md, "body": skill.body},
        digest=skill_digest(skill.skill_md, bundle),
        visibility=asked,
        said_visibility=_visibility_in_skill(skill, keep_private),
        unless_told=Visibility.PRIVATE if keep_private else Visibility.NETWORK,
        files=bundles.as_stored(bundle),
        found=screen_skill(skill.front, bundle).without_secrets(),
    )
    return contribute(access, draft)


def contribute_knowledge(
    access: Access, *, unit: Mapping[str, Any], visibility: str
) -> ContributionAnswer:
    """Share a knowledge unit. The caller's own unit of that id gets a new version."""
    access.require(Capability.WRITE)
    asked = _visibility(visibility)
    read = read_unit(unit)
    draft = Draft(
        type=TYPES[read.type],
        key=_key(read),
        shared_key=bool(read.unit_id),
        title=read.title,
        text=read.text,
        label="",
        tags=(),
        attributes=read.attributes,
        document=read.document,
        digest=read.digest,
        visibility=asked,
        said_visibility=None,
        found=screen_unit(read.document).without_secrets(),
    )
    return contribute(access, draft)


def _visibility(asked: str | None) -> Visibility | None:
    if asked is None:
        return None
    return Visibility(one_of(asked, Visibility.values, field="visibility"))


def _visibility_in_skill(skill: Skill, keep_private: bool) -> Visibility | None:
    return Visibility(skill.visibility) if skill.visibility and not keep_private else None


def _key(unit: Unit) -> dict[str, str]:
    """A unit without an id of its own is known by what it says."""
    return {"unit_id": unit.unit_id} if unit.unit_id else {"digest": unit.digest}
