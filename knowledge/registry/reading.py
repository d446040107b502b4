"""Reading one of what is published to a caller: itself, its versions, its files to install."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.text import slugify

from knowledge.access import Access, Capability
from knowledge.errors import NotFound, not_found
from knowledge.models import UNIT_TYPES, Item, ItemType, Version, Visibility
from knowledge.registry import bundles
from knowledge.registry.published_items import PublishedItem, without_files
from knowledge.storage.zips import zip_members

SKILLS = (ItemType.SKILL,)
MAX_VERSION = 1_000_000
_LONGEST_FOLDER = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A skill as the folder that agents install."""

    folder: str
    version: int
    digest: str
    files: bundles.Stored

    @property
    def file_list(self) -> list[dict[str, str | None]]:
        return [
            {"path": path, "text": file.get("text"), "base64": file.get("base64")}
            for path, file in self.files.items()
        ]

    @property
    def zip(self) -> bytes:
        """The same files always give the same bytes."""
        return b"".join(zip_members(bundles.as_bytes(self.files).items()))


def get_skill(access: Access, item_id: UUID, *, version: int | None = None) -> PublishedItem:
    """One skill, as it is or as it was in an earlier version."""
    return _get(access, item_id, SKILLS, version)


def get_unit(access: Access, item_id: UUID, *, version: int | None = None) -> PublishedItem:
    """One knowledge unit, as it is or as it was in an earlier version."""
    return _get(access, item_id, UNIT_TYPES, version)


def skill_versions(access: Access, item_id: UUID) -> list[Version]:
    """Every version of a skill that the caller may read, newest first."""
    return _list_versions(access, item_id, SKILLS)


def unit_versions(access: Access, item_id: UUID) -> list[Version]:
    """Every version of a unit that the caller may read, newest first."""
    return _list_versions(access, item_id, UNIT_TYPES)


def skill_archive(access: Access, item_id: UUID, *, version: int | None = None) -> Archive:
    """A skill as a folder of files: SKILL.md and what came with it."""
    skill = _get(access, item_id, SKILLS, version)
    folder = folder_of(skill.name, skill.digest)
    stored = {bundles.SKILL_MD: {"text": skill.whole}}
    if skill.version_row:
        stored |= skill.version_row.files
    return Archive(
        folder=folder,
        version=skill.version,
        digest=skill.digest,
        files={f"{folder}/{path}": file for path, file in stored.items()},
    )


def folder_of(name: str, digest: str) -> str:
    """A name that every system takes for a folder's."""
    return slugify(name, allow_unicode=True)[:_LONGEST_FOLDER].strip("-_") or f"skill-{digest[:8]}"


def _get(
    access: Access, item_id: UUID, types: Collection[ItemType], number: int | None
) -> PublishedItem:
    item = _published_item(access, item_id, types)
    versions = without_files(_readable(access, item)).order_by("-number")
    if number is None:
        return PublishedItem(item=item, version_row=versions.first())
    version = versions.filter(number=number).first()
    if version is None:
        raise NotFound("No such version, or it was never published to this token.")
    return PublishedItem(item=item, version_row=version)


def _list_versions(access: Access, item_id: UUID, types: Collection[ItemType]) -> list[Version]:
    item = _published_item(access, item_id, types)
    return list(_readable(access, item).defer("document", "files").order_by("-number"))


def _published_item(access: Access, item_id: UUID, types: Collection[ItemType]) -> Item:
    access.require(Capability.READ)
    items = Item.objects.published_to(access).filter(pk=item_id, type__in=types)
    items = items.select_related("content", "quality_parts")
    item = items.defer("content__text", "content__locators").first()
    if item is None:
        raise not_found("skill" if types == SKILLS else "knowledge unit")
    return item


def _readable(access: Access, item: Item) -> QuerySet[Version]:
    """All versions of one's own; of another's the current, and those it was published in."""
    versions = Version.objects.filter(item=item)
    if Item.objects.visible_to(access).filter(pk=item.pk).exists():
        return versions
    current = versions.order_by("-number").values("number")[:1]
    for_all = Q(visibility__in={Visibility.NETWORK, item.visibility})
    return versions.filter(for_all | Q(number__in=current))
