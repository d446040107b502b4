"""Whose library a command works on."""

from argparse import ArgumentParser

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import OperationalError, ProgrammingError

from knowledge.access import Access


def add_owner_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--owner", default="admin", help="whose library (default: admin)")


def user_named(username: str) -> User:
    """A user, or an error that names the users there are."""
    try:
        user = User.objects.filter(username=username).first()
    except ProgrammingError:
        raise CommandError("There are no tables yet; `make run` makes them.") from None
    except OperationalError as error:
        raise CommandError(f"The database does not answer: {error}") from None
    if user is None:
        names = ", ".join(User.objects.values_list("username", flat=True)[:20]) or "none yet"
        raise CommandError(f"There is no user {username!r}; there are: {names}.")
    return user


def access_of(username: str) -> Access:
    """The whole library of a user."""
    return Access.whole_library(user_named(username).pk)
