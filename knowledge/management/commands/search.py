import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from knowledge.access import Access
from knowledge.errors import QuarryError
from knowledge.management.owners import access_of, add_owner_argument
from knowledge.providers import load_reranker
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import MAX_LIMIT, MODES, Answer, LibrarySearchRequest, search


class Command(BaseCommand):
    help = "Search a library and print the best passages."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query")
        parser.add_argument("--mode", choices=MODES, default="hybrid")
        parser.add_argument("--limit", type=int, default=8, help=f"1 to {MAX_LIMIT}")
        parser.add_argument("--folder", help="only there, by name or id")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        add_owner_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        access = access_of(options["owner"])
        load_reranker()  # which a server has in memory
        try:
            request = LibrarySearchRequest(
                query=options["query"],
                mode=options["mode"],
                limit=options["limit"],
                narrowing=Narrowing(folder_id=_folder_id(access, options["folder"])),
            )
            answer = search(access, request)
        except QuarryError as error:
            raise CommandError(error.message) from None
        if options["json"]:
            self.stdout.write(_as_json(answer))
            return
        if answer.degraded:
            self.stderr.write(answer.degraded)
        if not answer.hits:
            self.stdout.write("Nothing found.")
        for number, hit in enumerate(answer.hits, start=1):
            self.stdout.write(f"{number}. ({hit.score:.2f}) {hit.item.title}")
            if hit.item.suspected:
                self.stdout.write(f"   suspected: {', '.join(hit.item.suspected)}")
            self.stdout.write(f"   {' '.join(hit.passage.split())}")
            self.stdout.write(f"   {hit.locator.url}\n\n")


# What few searches need is loaded by these alone: it takes as long as all the rest.


def _folder_id(access: Access, name: str | None) -> UUID | None:
    if not name:
        return None
    from knowledge.library.items import folder_by_name_or_id

    return folder_by_name_or_id(access, name).pk


def _as_json(answer: Answer) -> str:
    from knowledge.api.shapes import SearchOutput

    return json.dumps(SearchOutput(answer).data, cls=DjangoJSONEncoder)
