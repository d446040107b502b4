import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.exchange.exporting import export_library
from knowledge.management.owners import access_of, add_owner_argument
from knowledge.management.progress import ProgressBar


class Command(BaseCommand):
    help = "Write a library to a zip of Markdown, CSV and JSONL, which `import` takes again."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="where to write it; - is standard output")
        add_owner_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        access = access_of(options["owner"])
        try:
            with _open_output(options["file"]) as file, ProgressBar(sys.stderr, "items") as bar:
                for piece in export_library(access, on_progress=bar.show):
                    file.write(piece)
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be written: {error.strerror}.") from None


@contextmanager
def _open_output(name: str) -> Iterator[IO[bytes]]:
    """The file to be; it is there under its name once it is whole."""
    if name == "-":
        yield sys.stdout.buffer
        return
    path = Path(name)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as draft:
        try:
            yield draft
            draft.close()
            Path(draft.name).replace(path)
        finally:
            Path(draft.name).unlink(missing_ok=True)
