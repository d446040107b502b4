import re
import sys
from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from django.utils import timezone

from knowledge.errors import InvalidInput
from knowledge.undo import token_writes as undo
from knowledge.undo.token_writes import Undone, Write
from knowledge.validation import as_moment
from tokens.models import Token

_SHORT_AGE = re.compile(r"(\d{1,6})(min|h)")
_SHOWN = 50


class Command(BaseCommand):
    help = (
        "Undo what a token wrote, and nothing else; what somebody has changed since is left as "
        "it is and named. Shows what would happen and asks first."
    )
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--token", required=True, help="its id, or how it starts")
        parser.add_argument(
            "--since", required=True, help="an age (30min, 1h, 7d), an ISO date or a datetime"
        )
        parser.add_argument("--until", help="the same; now, unless told otherwise")
        parser.add_argument("--dry-run", action="store_true", help="only show what would happen")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:
        token = _token_named(options["token"])
        since = _moment(options["since"], "--since")
        until = _moment(options["until"], "--until") if options["until"] else timezone.now()
        if since >= until:
            raise CommandError("--since must come before --until.")
        would = undo.preview(token.owner_id, token.pk, since=since, until=until)
        self._show(token, would)
        if options["dry_run"] or not would.undone:
            return
        if not options["yes"]:
            _confirm(len(would.undone))
        done = undo.undo(token.owner_id, token.pk, since=since, until=until)
        self.stdout.write(f"Undone: {len(done.undone)}. Left: {len(done.skipped)}.")

    def _show(self, token: Token, would: Undone) -> None:
        self.stdout.write(f"{token}, of {token.owner}, is {token.state}.")
        if token.state == "active":
            self.stdout.write("It may go on writing meanwhile; revoke it first.")
        counts = ", ".join(f"{count} {_words(kind, count)}" for kind, count in would.counts.items())
        self.stdout.write(f"To be undone: {counts or 'nothing'}.")
        self._list(would.undone)
        if would.skipped:
            self.stdout.write(f"To be left: {len(would.skipped)}.")
            self._list(would.skipped)

    def _list(self, writes: list[Write]) -> None:
        for write in writes[:_SHOWN]:
            reason = f" ({write.reason})" if write.reason else ""
            self.stdout.write(f"  {write.at:%Y-%m-%d %H:%M:%S}  {write}{reason}")
        if len(writes) > _SHOWN:
            self.stdout.write(f"  … and {len(writes) - _SHOWN} more")


def _token_named(name: str) -> Token:
    tokens = Token.objects.select_related("owner")
    found = list(tokens.filter(_is_called(name))[:2]) if len(name) >= 4 else []
    if len(found) == 1:
        return found[0]
    if found:
        raise CommandError(f"More than one token starts with {name!r}; give its id.")
    raise CommandError(f"There is no token {name!r}; the admin lists those there are.")


def _is_called(name: str) -> Q:
    try:
        return Q(pk=UUID(name))
    except ValueError:
        return Q(prefix__startswith=name.rstrip("…")[:10])


def _moment(value: str, option: str) -> datetime:
    if match := _SHORT_AGE.fullmatch(value.strip()):
        unit = {"min": "minutes", "h": "hours"}[match[2]]
        return timezone.now() - timedelta(**{unit: int(match[1])})
    try:
        return as_moment(value, field=option)
    except InvalidInput:
        raise CommandError(
            f"{option} must be an age such as 30min, 1h or 7d, or an ISO date or datetime."
        ) from None


def _confirm(count: int) -> None:
    if not sys.stdin.isatty():
        raise CommandError("Say --yes to undo this without being asked.")
    if input(f"Undo these {count}? [y/N] ").strip().lower() not in ("y", "yes"):
        raise CommandError("Nothing was undone.")


def _words(kind: str, count: int) -> str:
    what, _, done = kind.partition("_")
    return f"{what} {done}" if count == 1 else f"{what}s {done}"
