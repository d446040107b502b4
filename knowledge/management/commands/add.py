import os
import re
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.errors import QuarryError
from knowledge.ingestion import add_text
from knowledge.library import file_item, folder_by_name_or_id
from knowledge.management.owners import access_of, add_owner_argument

_PATH = re.compile(r"(~|\.\.?)?/\S.*|[!-~]+")
"""What begins like a path, or is one word of plain letters: `notes.md`, `./my notes`, `/tmp/x`."""


class Command(BaseCommand):
    help = "Add a text: a file, - for standard input, or the words themselves."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", metavar="FILE|-|TEXT")
        parser.add_argument("--title", help="default: the file's name, or the first line")
        parser.add_argument("--folder", help="file it there, by name or id")
        parser.add_argument("--tag", action="append", default=[], dest="tags")
        parser.add_argument(
            "--not-in-kb", action="store_true", help="keep it, but out of the searchable index"
        )
        add_owner_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        access = access_of(options["owner"])
        text, name = _read(options["source"])
        try:
            folder = folder_by_name_or_id(access, options["folder"]) if options["folder"] else None
            item = add_text(
                access,
                title=options["title"] or name,
                text=text,
                in_kb=not options["not_in_kb"],
                tags=options["tags"],
            )
            if folder:
                file_item(access, item.pk, [folder.pk])
        except QuarryError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"{item.pk}  {item.title}  ({item.index_status})")


def _read(source: str) -> tuple[str, str]:
    """The text and what to call it when no title is given."""
    path = Path(source)
    try:
        if source == "-":
            text = sys.stdin.read()
        elif _names_a_file(source):
            return path.read_text(encoding="utf-8"), path.name
        else:
            text = source
    except UnicodeDecodeError:
        raise CommandError(f"{source} is not UTF-8 text.") from None
    except OSError as error:
        raise CommandError(f"{source} cannot be read: {error.strerror}.") from None
    return text, _first_line(text)


def _names_a_file(source: str) -> bool:
    """A file there is, or what can hardly be meant as a text: then it is told as missing."""
    # Not Path.exists, which fails on a text that is too long for a name.
    return os.path.exists(source) or bool(_PATH.fullmatch(source))


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "Untitled")
    return line.strip("# \t")[:80] or "Untitled"
