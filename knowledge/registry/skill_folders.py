"""Skills in a folder of files: each is a SKILL.md, with what lies beside and below it."""

import base64
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.access import Access
from knowledge.errors import InvalidInput
from knowledge.models import Item, ItemType, Version
from knowledge.registry.bundles import MAX_BUNDLE_BYTES, MAX_FILES, SKILL_MD, as_bytes, unsafe
from knowledge.registry.contributing import contribute_skill
from knowledge.registry.reading import folder_of
from knowledge.registry.versioning import Contributed


@dataclass(frozen=True, slots=True)
class Written:
    """A skill that was written out, and where."""

    name: str
    folder: Path


def skills_below(folder: Path) -> list[Path]:
    """Every SKILL.md of a folder, by its path; hidden folders and links are left alone."""
    return sorted(path for path in _files(folder) if path.name == SKILL_MD)


def import_skill(access: Access, skill_md: Path, visibility: str | None) -> Contributed:
    """Contribute one SKILL.md with its files."""
    return contribute_skill(
        access,
        skill_md_content=_text(skill_md),
        visibility=visibility,
        files=_beside(skill_md.parent),
    )


def export_skills(access: Access, folder: Path) -> Iterator[Written]:
    """Write every skill of the caller's as it was contributed last, byte for byte."""
    skills = Item.objects.visible_to(access).filter(type=ItemType.SKILL)
    taken: set[str] = set()
    for item in skills.order_by("created_at", "pk"):
        version = Version.objects.filter(item=item).order_by("-number").first()
        if version is None:
            continue
        name = item.attributes["name"]
        place = folder / _free(folder_of(name, version.digest), taken)
        _write(place, version)
        yield Written(name, place)


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(place) / name
            if not name.startswith(".") and not path.is_symlink():
                yield path


def _text(skill_md: Path) -> str:
    """As it is, line ends too, so that it can be written back the same."""
    try:
        return skill_md.read_bytes().decode()
    except UnicodeDecodeError:
        raise InvalidInput("SKILL.md must be UTF-8.", field="skill_md_content") from None


def _beside(folder: Path) -> dict[str, Any]:
    """The files of a skill's folder, but for those of skills within it."""
    others = [path.parent for path in skills_below(folder) if path.parent != folder]
    found: dict[str, Any] = {}
    size = 0
    for path in _files(folder):
        if path == folder / SKILL_MD or any(path.is_relative_to(other) for other in others):
            continue
        size += path.stat().st_size
        if len(found) == MAX_FILES or size > MAX_BUNDLE_BYTES:
            raise InvalidInput(
                f"Beside SKILL.md there may be {MAX_FILES} files of {MAX_BUNDLE_BYTES:,} bytes "
                "together.",
                field="files",
            )
        encoded = base64.b64encode(path.read_bytes()).decode()
        found[path.relative_to(folder).as_posix()] = {"base64": encoded}
    return found


def _free(name: str, taken: set[str]) -> str:
    """The name, or with a number where two skills would have the same."""
    free, number = name, 1
    while free.casefold() in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free.casefold())
    return free


def _write(place: Path, version: Version) -> None:
    files = {SKILL_MD: version.document["skill_md"].encode(), **as_bytes(version.files)}
    for path, data in files.items():
        if path != SKILL_MD and any(unsafe(path)):
            raise InvalidInput(f"{path} cannot be written safely.", field="files")
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
