import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from knowledge.api.shapes import SearchOutput
from knowledge.errors import QuarryError
from knowledge.library.items import folder_by_name_or_id
from knowledge.management.owners import access_of, add_owner_argument
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import MAX_LIMIT, MODES, LibrarySearchRequest, search


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
        try:
            folder = folder_by_name_or_id(access, options["folder"]) if options["folder"] else None
            request = LibrarySearchRequest(
                query=options["query"],
                mode=options["mode"],
                limit=options["limit"],
                narrowing=Narrowing(folder_id=folder.pk if folder else None),
            )
            answer = search(access, request)
        except QuarryError as error:
            raise CommandError(error.message) from None
        if options["json"]:
            self.stdout.write(json.dumps(SearchOutput(answer).data, cls=DjangoJSONEncoder))
            return
        if answer.degraded:
            self.stderr.write(answer.degraded)
        if not answer.hits:
            self.stdout.write("Nothing found.")
        for number, hit in enumerate(answer.hits, start=1):
            self.stdout.write(f"{number}. ({hit.score:.2f}) {hit.item.title}")
            self.stdout.write(f"   {' '.join(hit.passage.split())}")
            self.stdout.write(f"   {hit.locator.url}\n\n")
