import json
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from knowledge.access import Access
from knowledge.errors import QuarryError
from knowledge.library.items import folder_by_name_or_id
from knowledge.management.owners import user_named
from tokens.minting import DEFAULT_DAYS, TokenRequest, mint_token
from tokens.models import Toolset


class Command(BaseCommand):
    help = "Mint a token and print its secret, this once. Without --folder: the whole library."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--owner", required=True, help="user name of the library's owner")
        parser.add_argument("--name", required=True, help="what the token is for")
        parser.add_argument(
            "--folder",
            action="append",
            dest="folders",
            metavar="FOLDER",
            help="a folder it reaches, by name or id; may be given several times",
        )
        parser.add_argument("--write", action="store_true", help="may add and change things")
        parser.add_argument("--kb-only", action="store_true", help="sees only the knowledge base")
        parser.add_argument(
            "--toolset",
            action="append",
            dest="toolsets",
            choices=Toolset.values,
            help="MCP tools it is shown; may be given several times (default: library)",
        )
        parser.add_argument("--expires-days", type=int, default=DEFAULT_DAYS, metavar="DAYS")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = user_named(options["owner"])
        try:
            token, secret = mint_token(owner, self._request(owner, options))
        except QuarryError as error:
            raise CommandError(error.message) from None
        if options["json"]:
            folders = [{"id": str(f.pk), "name": f.name} for f in token.folders.all()]
            shown = {
                "id": str(token.pk),
                "token": secret,
                "prefix": token.prefix,
                "name": token.name,
                "agent_id": token.agent_id,
                "owner": owner.username,
                "capabilities": sorted(token.capabilities),
                "is_unscoped": token.is_unscoped,
                "folders": folders,
                "kb_only": token.kb_only,
                "toolsets": token.toolsets,
                "expires_at": token.expires_at.isoformat(),
            }
            self.stdout.write(json.dumps(shown))
        else:
            self.stdout.write(secret)
            self.stderr.write("Copy it now: it is not kept and cannot be shown again.")

    def _request(self, owner: User, options: dict[str, Any]) -> TokenRequest:
        access = Access.whole_library(owner.pk)
        folders = options["folders"]
        return TokenRequest(
            name=options["name"],
            folder_ids=folders and [folder_by_name_or_id(access, name).pk for name in folders],
            can_write=options["write"],
            kb_only=options["kb_only"],
            toolsets=options["toolsets"] or [Toolset.LIBRARY],
            expires_days=options["expires_days"],
        )
