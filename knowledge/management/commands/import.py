import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.errors import QuarryError
from knowledge.exchange.importing import ImportReport, import_library
from knowledge.management.owners import access_of, add_owner_argument
from knowledge.management.progress import ProgressBar


class Command(BaseCommand):
    help = "Add what an export has and a library lacks. Stopped half way, run it again."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a zip that `export` wrote")
        add_owner_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        access, report = access_of(options["owner"]), ImportReport()
        try:
            with options["file"].open("rb") as file, ProgressBar(sys.stderr, "items") as bar:
                import_library(access, file, report=report, on_progress=bar.show)
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from None
        except QuarryError as error:
            self._tell_problems(report)
            raise CommandError(error.message) from None
        self._tell(report)

    def _tell(self, imported: ImportReport) -> None:
        self.stdout.write(
            f"Added {imported.items:,} items, {imported.contents:,} contents and "
            f"{imported.folders:,} folders; {imported.skipped:,} items were there already."
        )
        self._tell_problems(imported)
        if imported.failed:
            raise CommandError(f"{imported.failed:,} lines could not be taken.")

    def _tell_problems(self, report: ImportReport) -> None:
        for problem in report.problems:
            self.stderr.write(f"{problem.file}:{problem.line}: {problem.message}")
