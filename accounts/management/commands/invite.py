from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts.invitations import LIVES_DAYS, invite, mail_link
from knowledge.errors import QuarryError
from knowledge.management.owners import user_named

_USUAL = "http://localhost:8000"


class Command(BaseCommand):
    help = "Print a link, this once, that makes an account or sets the password of one."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", default="", help="mail the link too, if mail is set up")
        parser.add_argument("--admin", action="store_true", help="the account is an admin's")
        parser.add_argument("--reset", metavar="NAME", help="set a new password for this account")
        parser.add_argument("--days", type=int, default=LIVES_DAYS, help="how long it works")
        parser.add_argument(
            "--url", default="", help="where people reach this server (or QUARRY_PUBLIC_URL)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        person = user_named(options["reset"]) if options["reset"] else None
        given = options["url"] or settings.QUARRY_PUBLIC_URL
        base = (given or settings.SERVED_AT or _USUAL).rstrip("/")
        try:
            _, path = invite(
                None,
                email=options["email"],
                is_admin=options["admin"],
                person=person,
                days=options["days"],
            )
        except QuarryError as error:
            raise CommandError(error.message) from None
        self.stdout.write(base + path)
        if options["email"] and mail_link(options["email"], base + path):
            self.stderr.write(f"Mailed to {options['email']}.")
        else:
            self.stderr.write("Hand it over yourself. It works once, and is not shown again.")
        if not given:
            self.stderr.write("For another host or port give --url, or set QUARRY_PUBLIC_URL.")
