"""What a new Quarry needs before anybody can use it: a person and a token."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import connection, transaction

from knowledge.locks import Lock
from tokens.minting import TokenRequest, mint_token
from tokens.models import Toolset

_TOOLSETS = (Toolset.LIBRARY, Toolset.MEMORY, Toolset.REGISTRY)


@dataclass(frozen=True, slots=True)
class FirstRun:
    """The credentials of a new installation, to be shown once."""

    username: str
    password: str
    token: str


@transaction.atomic
def set_up_first_run() -> FirstRun | None:
    """Create the admin user and a whole-library token, unless there is any user already."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [Lock.FIRST_RUN])
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    admin = User.objects.create_superuser("admin", password=password)
    request = TokenRequest(name="First token", folder_ids=None, can_write=True, toolsets=_TOOLSETS)
    _, secret = mint_token(admin, request)
    return FirstRun(admin.username, password, secret)
