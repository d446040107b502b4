import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.access import Access
from knowledge.errors import QuarryError
from knowledge.ingest.adding import MAX_TEXT, AddedItem, add_to_knowledge
from knowledge.ingest.adding_files import add_file
from knowledge.library.items import folder_by_name_or_id
from knowledge.management.owners import access_of, add_owner_argument
from knowledge.management.waiting import wait_until_finished
from knowledge.models import ContentState, Folder, Item

_LINK = re.compile(r"https?://\S+", re.IGNORECASE)
_PATH = re.compile(r"(~|\.\.?)?/\S.*|[!-~]+")
"""What begins like a path, or is one word of plain letters: `notes.md`, `./my notes`, `/tmp/x`."""
_PLAIN = {".md", ".markdown", ".txt"}


class Command(BaseCommand):
    help = "Add links, files, - for standard input, or the words themselves."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sources", nargs="+", metavar="URL|FILE|-|TEXT")
        parser.add_argument("--title", help="default: what the source says, or the file's name")
        parser.add_argument("--folder", help="file it there, by name or id")
        parser.add_argument("--tag", action="append", default=[], dest="tags", metavar="TAG")
        parser.add_argument(
            "--not-in-kb", action="store_true", help="keep it, but out of the searchable index"
        )
        parser.add_argument(
            "--transform", action="store_true", dest="auto_transform", help="sum it up, too"
        )
        parser.add_argument(
            "--wait", action="store_true", help="until it is ready, and show how far it is"
        )
        add_owner_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        sources = options["sources"]
        if options["title"] and len(sources) > 1:
            raise CommandError("--title is for one source; leave it out, or add them one by one.")
        access = access_of(options["owner"])
        folder = _folder(access, options["folder"])
        failures = [each for each in sources if not self._add(access, each, folder, options)]
        if failures:
            raise CommandError(f"{len(failures)} of {len(sources)} could not be added.")

    def _add(
        self, access: Access, source: str, folder: Folder | None, options: dict[str, Any]
    ) -> bool:
        """Whether the source was added; of several, one that fails does not stop the others."""
        try:
            item = _choose_ask(access, source, folder, options)().item
            if options["wait"]:
                item = wait_until_finished(item, sys.stderr)
            if item.content.state == ContentState.FAILED:
                raise CommandError(item.content.error)
        except (QuarryError, OSError, CommandError) as error:
            told = _error_text(source, error)
            if len(options["sources"]) == 1:
                raise CommandError(told) from None
            self.stderr.write(f"{source}: {told}")
            return False
        self.stdout.write(f"{item.pk}  {item.title}  ({_state(item)})")
        return True


def _folder(access: Access, name: str | None) -> Folder | None:
    try:
        return folder_by_name_or_id(access, name) if name else None
    except QuarryError as error:
        raise CommandError(error.message) from None


def _choose_ask(
    access: Access, source: str, folder: Folder | None, options: dict[str, Any]
) -> Callable[[], AddedItem]:
    """The ask that a source calls for."""
    wish = {
        "folder_id": folder and folder.pk,
        "title": options["title"],
        "in_kb": not options["not_in_kb"],
        "tags": options["tags"],
        "auto_transform": options["auto_transform"],
    }
    if _LINK.fullmatch(source):
        return partial(add_to_knowledge, access, kind="url", url=source, **wish)
    if source == "-":
        text = sys.stdin.read()
    elif _names_a_file(source):
        path = Path(source)
        text = _plain_text(path)
        if text is None:
            return partial(add_file, access, path, **wish)
        wish["title"] = wish["title"] or path.name
    else:
        text = source
    wish["title"] = wish["title"] or _first_line(text)
    return partial(add_to_knowledge, access, kind="text", text=text, **wish)


def _names_a_file(source: str) -> bool:
    """A file there is, or what can hardly be meant as a text: then it is told as missing."""
    # Not Path.exists, which fails on a text that is too long for a name.
    return os.path.exists(source) or bool(_PATH.fullmatch(source))


def _plain_text(path: Path) -> str | None:
    """What needs no reader, and so no worker, to be searchable at once."""
    if path.suffix.lower() not in _PLAIN or path.stat().st_size > MAX_TEXT:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "Untitled")
    return line.strip("# \t")[:80] or "Untitled"


def _error_text(source: str, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{source} cannot be read: {error.strerror}."
    return error.message if isinstance(error, QuarryError) else str(error)


def _state(item: Item) -> str:
    """How far it is: in the index once its text is there."""
    return item.index_status if item.content.is_ready else item.status
