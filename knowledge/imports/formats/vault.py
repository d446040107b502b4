"""A zip of Markdown files, such as an Obsidian vault: each note with its folders and tags."""

import zipfile
import zlib
from collections import Counter
from pathlib import PurePosixPath

from knowledge.errors import IngestFailed
from knowledge.imports.formats.rows import Export, Row, decode, moment_of, split_tags
from knowledge.registry.frontmatter import read_frontmatter

MOST_MEMBERS = 50_000
LONGEST_MEMBER = 2_000_000
LONGEST_TEXT, SHORTEST_TEXT = 500_000, 20
MOST_INFLATED = 50_000_000
_NOTES = (".md", ".markdown", ".txt")
_ENCRYPTED = 0x1


def read_vault(archive: zipfile.ZipFile) -> Export:
    """The notes of a vault; attachments are left out and counted."""
    export = Export("markdown")
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > MOST_MEMBERS:
        raise IngestFailed(
            f"The zip has more than {MOST_MEMBERS:,} files; split it.", reason="too_long"
        )
    notes, others = _sort_members(members, export)
    root = _common_root(notes)
    room = MOST_INFLATED
    for member, path in notes:
        body = read_member(archive, member, export, most=LONGEST_MEMBER)
        if body is not None:
            room -= len(body)
            _add_note(path.relative_to(root), decode(body), export, vault=root)
        if room < 0:
            raise IngestFailed(
                f"Its notes have more than {MOST_INFLATED // 1_000_000} MB of text; import a "
                "folder at a time.",
                reason="too_long",
            )
    for suffix, count in sorted(others.items()):
        files = "1 file" if count == 1 else f"{count:,} files"
        export.leave_out(f"{files} {suffix}", "attachments are not imported; add them as files")
    return export


def read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, export: Export, *, most: int
) -> bytes | None:
    """A member's bytes, never more than `most`, whatever the zip says of its size."""
    if member.flag_bits & _ENCRYPTED:
        export.leave_out(member.filename, "it is encrypted")
        return None
    try:
        with archive.open(member) as file:
            body = file.read(most + 1)
    except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError, zlib.error) as error:
        export.leave_out(member.filename, f"it cannot be unpacked ({error})"[:200])
        return None
    if len(body) > most:
        export.leave_out(member.filename, f"it has more than {most:,} bytes")
        return None
    return body


def _sort_members(
    members: list[zipfile.ZipInfo], export: Export
) -> tuple[list[tuple[zipfile.ZipInfo, PurePosixPath]], Counter[str]]:
    notes, others = [], Counter[str]()
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if any(part.startswith(".") or part == "__MACOSX" for part in path.parts if part != ".."):
            continue  # what the program keeps for itself
        if path.is_absolute() or ".." in path.parts or len(path.parts) > 20:
            export.leave_out(member.filename, "its path leads out of the zip, or too deep")
        elif path.suffix.lower() in _NOTES:
            notes.append((member, path))
        else:
            others[path.suffix.lower()[:20] or "without a suffix"] += 1
    return notes, others


def _common_root(notes: list[tuple[zipfile.ZipInfo, PurePosixPath]]) -> PurePosixPath:
    """The folder that all notes are in, if there is one: it is the vault, and no folder of it."""
    roots = {path.parts[0] if len(path.parts) > 1 else "" for _, path in notes}
    return PurePosixPath(roots.pop()) if len(roots) == 1 and "" not in roots else PurePosixPath()


def _add_note(path: PurePosixPath, text: str, export: Export, *, vault: PurePosixPath) -> None:
    fields, body = {}, text
    if text.lstrip("\ufeff").startswith("---"):
        front = read_frontmatter(text)
        if front.fields:
            fields, body = front.fields, front.body
    body = body.strip()
    if not SHORTEST_TEXT <= len(body) <= LONGEST_TEXT:
        told = "short" if len(body) < SHORTEST_TEXT else "long"
        export.leave_out(str(path), f"its text is too {told}: {len(body):,} characters")
        return
    export.add(
        Row(
            kind="text",
            # Where the note is, so that it is known again when it has changed.
            url=f"{vault}/{path}",
            title=_line(fields.get("title")) or path.stem,
            text=body,
            tags=_tags(fields.get("tags") or fields.get("tag")),
            folder=" / ".join(path.parts[:-1]),
            saved_at=moment_of(_line(fields.get("created") or fields.get("date"))),
        )
    )


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _tags(value: object) -> list[str]:
    found = value if isinstance(value, list) else split_tags(_line(value), ", ")
    return [tag.lstrip("#") for tag in found if isinstance(tag, str) and tag.lstrip("#")]
