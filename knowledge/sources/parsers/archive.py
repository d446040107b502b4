"""Zip files of XML, as Office and e-books are, opened so that they cannot swell or lie.

Members are only ever read into memory, under the name that the archive gives them; nothing is
unpacked to the disk, so that a name such as `../../x` leads nowhere.
"""

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import iterparse, parse

from knowledge.errors import IngestFailed
from knowledge.sources.parsers.draft import broken_file

MOST_INFLATED = 50_000_000
MOST_MEMBERS = 20_000
ENCRYPTED = 0x1


class Archive:
    """The members of one file; together they may inflate to a fixed number of bytes."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)
        self._left = MOST_INFLATED
        if len(self._zip.filelist) > MOST_MEMBERS:
            raise swells()

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        """The whole member, counted as it inflates, whatever its header says."""
        member = self._open(name)
        pieces = []
        while piece := member.read(1 << 16):
            pieces.append(piece)
        return b"".join(pieces)

    def tree(self, name: str) -> Element:
        """A small member; one that is not there is an empty element."""
        if name not in self:
            return Element("nothing")
        root: Element = parse(self._open(name), forbid_dtd=True).getroot()
        return root

    def children(self, name: str, *, of: str) -> Iterator[Element]:
        """Each child of the first element called `of`, freed before the next is read."""
        holder: Element | None = None
        depth = 0
        for event, element in iterparse(self._open(name), ("start", "end"), forbid_dtd=True):
            if holder is None:
                holder = element if event == "start" and local(element) == of else None
                continue
            depth += 1 if event == "start" else -1
            if depth < 0:
                return
            if event == "end" and depth == 0:
                yield element
                holder.clear()

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """What a member points to within the archive: id → kind of relation, full name."""
        folder, base = posixpath.split(name)
        root = self.tree(posixpath.join(folder, "_rels", f"{base}.rels"))
        return {
            relation.get("Id", ""): (
                relation.get("Type", "").rpartition("/")[2],
                _resolve_path(folder, relation.get("Target", "")),
            )
            for relation in root
            if relation.get("TargetMode") != "External"
        }

    def main_part(self) -> str:
        """The member that an Office file is about."""
        for kind, name in self.relations("").values():
            if kind == "officeDocument" and name in self:
                return name
        raise broken_file("it has no document inside")

    def _open(self, name: str) -> "_Counted":
        if name not in self:
            raise broken_file(f"{name} is missing in it")
        member = self._zip.getinfo(name)
        if member.file_size > self._left:
            raise swells()
        if member.flag_bits & ENCRYPTED:
            raise IngestFailed(
                "The file is protected by a password; send it without one.", reason="encrypted"
            )
        return _Counted(self, self._zip.open(member))

    def take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise swells()


class _Counted:
    """A member that pays for every byte it inflates to."""

    def __init__(self, archive: Archive, member: Any) -> None:
        self._archive = archive
        self._member = member

    def read(self, size: int = 1 << 16) -> bytes:
        piece: bytes = self._member.read(size if size > 0 else 1 << 16)
        self._archive.take(len(piece))
        return piece


def swells() -> IngestFailed:
    return IngestFailed(
        f"The file inflates to more than {MOST_INFLATED // 1_000_000} MB; "
        "split it, or take its pictures and unused parts out.",
        reason="inflates_too_much",
    )


def local(element: Element) -> str:
    """The name without its namespace: strict and common Office files differ in nothing else."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element | None, name: str) -> str:
    if element is None:
        return ""
    wanted = (value for key, value in element.items() if key.rpartition("}")[2] == name)
    return next(wanted, "")


def child(element: Element | None, *path: str) -> Element | None:
    """The first descendant by a path of local names."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def inside(element: Element | None) -> Iterator[Element]:
    """The children, if there is an element at all."""
    return iter(()) if element is None else iter(element)


def _resolve_path(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
