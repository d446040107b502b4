"""Skills in a folder of files: each is a SKILL.md, with what lies beside and below it."""

import base64
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.access import Access
from knowledge.errors import InvalidInput
from knowledge.models import Item, ItemType, Version
from knowledge.registry.bundles import (
    MAX_BUNDLE_BYTES,
    MAX_FILES,
    SKILL_MD,
    as_bytes,
    read_bundle,
    unsafe,
)
from knowledge.registry.contributing import contribute_skill
from knowledge.registry.reading import folder_of
from knowledge.registry.skill_format import read_skill, skill_digest
from knowledge.registry.versioning import ContributionAnswer


@dataclass(frozen=True, slots=True)
class WrittenSkill:
    """A skill that was written out, and where."""

    name: str
    folder: Path
    visibility: str
    quarantined: bool


def skills_below(folder: Path) -> list[Path]:
    """Every SKILL.md of a folder, by its path; hidden folders and links are left alone."""
    return sorted(path for path in _files(folder) if path.name == SKILL_MD)


def import_skill(
    access: Access, skill_md: Path, visibility: str | None
) -> ContributionAnswer | None:
    """Contribute one SKILL.md with its files; None if that is what its owner has archived.

    Without a visibility a new one is private, and one that is there stays for whom it is.
    """
    text, files = _text(skill_md), _bundle_files(skill_md.parent)
    if _is_archived(access, text, files):
        return None
    return contribute_skill(
        access, skill_md_content=text, visibility=visibility, files=files, keep_private=True
    )


def export_skills(
    access: Access, folder: Path, *, archived: bool = False
) -> Iterator[WrittenSkill]:
    """Write every skill of the caller's as it was contributed last, byte for byte."""
    skills = Item.objects.visible_to(access).filter(type=ItemType.SKILL)
    if not archived:
        skills = skills.filter(archived=False)
    taken: set[str] = set()
    for item in skills.order_by("created_at", "pk"):
        version = Version.objects.filter(item=item).order_by("-number").first()
        if version is None:
            continue
        name = item.attributes["name"]
        place = folder / _free(folder_of(name, version.digest), taken)
        _write(place, version)
        yield WrittenSkill(name, place, item.visibility, item.quarantined)


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


def _is_archived(access: Access, text: str, files: dict[str, Any]) -> bool:
    skill = read_skill(text)
    same = {"name": skill.name, "digest": skill_digest(skill.skill_md, read_bundle(files))}
    own = Item.objects.visible_to(access).filter(type=ItemType.SKILL, attributes__contains=same)
    return own.filter(archived=True).exists()


def _own_files(folder: Path) -> list[Path]:
    """What lies beside and below a SKILL.md, but for the files of skills within its folder."""
    others = [path.parent for path in skills_below(folder) if path.parent != folder]
    return [
        path
        for path in _files(folder)
        if path != folder / SKILL_MD and not any(path.is_relative_to(other) for other in others)
    ]


def _bundle_files(folder: Path) -> dict[str, Any]:
    """The files of a skill's folder, as they are sent."""
    found: dict[str, Any] = {}
    size = 0
    for path in _own_files(folder):
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
    _clear(place, files.keys())
    for path, data in files.items():
        if path != SKILL_MD and any(unsafe(path)):
            raise InvalidInput(f"{path} cannot be written safely.", field="files")
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)


def _clear(place: Path, kept: Collection[str]) -> None:
    """Remove what an earlier version left in the folder of a skill; it would be taken for its own.

    A folder without a SKILL.md is none of a skill's, and nothing in it is touched.
    """
    if place.is_symlink() or not (place / SKILL_MD).is_file():
        return
    for path in _own_files(place):
        if path.relative_to(place).as_posix() not in kept:
            path.unlink()
            _remove_empty(path.parent, place)


def _remove_empty(folder: Path, place: Path) -> None:
    """Folders that are left with nothing: a file may have to stand where one was."""
    while folder != place and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
