from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.access import Access
from knowledge.errors import QuarryError
from knowledge.management.owners import access_of, add_owner_argument
from knowledge.models import Visibility
from knowledge.registry.skill_folders import export_skills, import_skill, skills_below
from knowledge.registry.versioning import ContributionAnswer


class Command(BaseCommand):
    help = "Take skills in from a folder of SKILL.md files, or write them out to one."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        ways = parser.add_subparsers(dest="way", required=True, metavar="import|export")
        taking = ways.add_parser("import", help="contribute every SKILL.md below a folder")
        taking.add_argument("folder", type=Path, metavar="FOLDER")
        taking.add_argument(
            "--visibility",
            choices=Visibility.values,
            help="for whom (default: a new skill is private, one that is there stays as it is)",
        )
        writing = ways.add_parser("export", help="write every skill of an owner")
        writing.add_argument("folder", type=Path, metavar="FOLDER")
        writing.add_argument("--archived", action="store_true", help="the archived ones too")
        for way in (taking, writing):
            add_owner_argument(way)

    def handle(self, *args: Any, **options: Any) -> None:
        # A person has no token: what they share is by their own name.
        access = replace(access_of(options["owner"]), agent_id=options["owner"])
        if options["way"] == "import":
            self._import(access, options["folder"], options["visibility"])
        else:
            self._export(access, options["folder"], options["archived"])

    def _import(self, access: Access, folder: Path, visibility: str | None) -> None:
        found = skills_below(folder)
        if not found:
            raise CommandError(f"There is no SKILL.md below {folder}.")
        became = Counter(self._take(access, folder, path, visibility) for path in found)
        if became["archived"]:
            self.stdout.write(f"{became['archived']:,} skills are archived and were left so.")
        if became["failed"]:
            raise CommandError(f"{became['failed']:,} of {len(found):,} skills could not be taken.")

    def _take(self, access: Access, folder: Path, path: Path, visibility: str | None) -> str:
        """What became of a skill: it is taken, archived or failed."""
        name = path.relative_to(folder)
        try:
            made = import_skill(access, path, visibility)
        except (QuarryError, OSError) as error:
            self.stderr.write(f"{name}: {_error_text(error)}")
            for line in _details(error):
                self.stderr.write(f"  {line}")
            return "failed"
        if made is None:
            self.stdout.write(f"{name}: archived, left alone")
            return "archived"
        state = f"version {made.version.number}" if made.is_new else "there already"
        back = ", brought back from the archive" if made.brought_back else ""
        facts = f"{made.item.visibility}, quality {made.quality_score or 0:.2f}"
        self.stdout.write(f"{name}: {state}{back}, {facts}{_marks(made)}")
        return "taken"

    def _export(self, access: Access, folder: Path, archived: bool) -> None:
        count = 0
        try:
            for written in export_skills(access, folder, archived=archived):
                held = ", held back from others: do not install it" if written.quarantined else ""
                self.stdout.write(f"{written.folder}: {written.name}, {written.visibility}{held}")
                count += 1
        except OSError as error:
            raise CommandError(f"{folder} cannot be written: {error.strerror}.") from None
        self.stdout.write(f"{count:,} skills written.")


def _marks(made: ContributionAnswer) -> str:
    """What its owner is told beside: suspicions, and who has shared the same before."""
    marks = [f"suspected ({', '.join(made.suspected)})"] if made.suspected else []
    marks += ["held back from others until an admin has ruled"] if made.quarantined else []
    if original := made.copy_of:
        marks.append(f"a copy of {original.id} by {original.contributor}")
    return "".join(f", {mark}" for mark in marks)


def _details(error: Exception) -> Iterator[str]:
    """All that is wrong; of what looks like secrets, by which fingerprint an admin allows it."""
    details = getattr(error, "details", {})
    for each in details.get("errors", ()):
        yield f"{each['path']}: {each['message']}"
    for each in details.get("findings", ()):
        yield f"{each['path']}: {each['rule']}, fingerprint {each['fingerprint']}"


def _error_text(error: Exception) -> str:
    if isinstance(error, QuarryError):
        return error.message
    return f"cannot be read: {getattr(error, 'strerror', None) or error}."
