import re
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.access import Access
from knowledge.crawling import documentation
from knowledge.crawling.documentation import DEPTH, PAGES, add_source, crawl_again, get_source
from knowledge.errors import QuarryError
from knowledge.library.items import folder_by_name_or_id
from knowledge.management.owners import access_of, add_owner_argument
from knowledge.management.progress import ProgressBar
from knowledge.models import CrawlState, PageState, Source

_LINK = re.compile(r"https?://\S+", re.IGNORECASE)
_LOOK_SEC = 0.5


class Command(BaseCommand):
    help = "Add a documentation site by its address, or crawl a source again by its name or id."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", metavar="URL|NAME|ID")
        parser.add_argument("--name", help="of a new source (default: its host)")
        parser.add_argument(
            "--include", action="append", default=[], metavar="PATTERN", help="such as /docs/*"
        )
        parser.add_argument("--exclude", action="append", default=[], metavar="PATTERN")
        parser.add_argument("--depth", type=int, default=DEPTH, help=f"1 to 5 (default: {DEPTH})")
        parser.add_argument(
            "--max-pages", type=int, default=PAGES, help=f"1 to 500 (default: {PAGES})"
        )
        parser.add_argument("--folder", help="file its pages there, by name or id")
        parser.add_argument("--wait", action="store_true", help="until it is done, with progress")
        add_owner_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        access = access_of(options["owner"])
        try:
            source = _begin_crawl(access, options)
            if options["wait"]:
                source = _wait_for_crawl(access, source)
        except QuarryError as error:
            raise CommandError(error.message) from None
        kept = source.page_counts[PageState.KEPT]
        self.stdout.write(f"{source.pk}  {source.name}  ({source.state}, {kept} pages)")
        if source.state == CrawlState.FAILED:
            raise CommandError(source.error)


def _begin_crawl(access: Access, options: dict[str, Any]) -> Source:
    given = options["source"]
    if not _LINK.fullmatch(given):
        return crawl_again(access, documentation.source_named(access, given).pk)
    folder = folder_by_name_or_id(access, options["folder"]) if options["folder"] else None
    return add_source(
        access,
        name=options["name"] or given.partition("://")[2].partition("/")[0],
        start_url=given,
        include=options["include"],
        exclude=options["exclude"],
        depth=options["depth"],
        max_pages=options["max_pages"],
        folder_id=folder.pk if folder else None,
    )


def _wait_for_crawl(access: Access, source: Source) -> Source:
    """The source once its crawl has ended; it goes on if nobody waits."""
    with ProgressBar(sys.stderr, "pages") as bar:
        while source.is_at_work:
            pause()
            source = get_source(access, source.pk)
            bar.show(source.pages_done, max(1, source.pages_done + source.pages_to_come))
    return source


def pause() -> None:
    time.sleep(_LOOK_SEC)
