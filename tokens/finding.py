"""A token with its owner and its folders, by one statement.

Kept for one call and no longer: a token that is revoked is dead at the very next.
"""

import json
from functools import cache
from typing import Any, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, models

from knowledge.models import Folder
from knowledge.models.prepared import fetch_row
from tokens.models import Token

_OWNER = ["id", "is_superuser", "username", "is_staff", "is_active"]
"""What calls need of the owner, in the model's order; anything else is read when asked for."""


def find_by_digest(digest: str) -> Token | None:
    """The token whose secret has this digest, if its owner may still come in."""
    return _find("token.digest = %s", digest)


def find_connection(connection_id: UUID) -> Token | None:
    """The token of an OAuth client's connection, if its owner may still come in."""
    return _find("token.id = %s AND token.client_id IS NOT NULL", connection_id)


def _find(condition: str, value: object) -> Token | None:
    row = fetch_row(_statement(condition), [value])
    if row is None:
        return None
    tokens, owners = _columns(Token), _OWNER
    token = Token.from_db(connection.alias, tokens, row[: len(tokens)])
    token.limits = json.loads(cast(str, token.limits))  # Django's connections leave JSON as text
    owner = User.from_db(connection.alias, owners, row[len(tokens) : len(tokens) + len(owners)])
    token._state.fields_cache["owner"] = owner
    folder_ids, names = row[-2:]
    known = ["id", "owner_id", "name"]
    folders = cast(Any, Folder.objects.none())
    folders._result_cache = [
        Folder.from_db(connection.alias, known, (folder_id, owner.pk, name))
        for folder_id, name in zip(folder_ids or (), names or (), strict=True)
    ]
    token._prefetched_objects_cache = {"folders": folders}  # type: ignore[attr-defined]
    return token


@cache
def _statement(condition: str) -> str:
    columns = [f'token."{_column(Token, name)}"' for name in _columns(Token)]
    columns += [f'owner."{name}"' for name in _OWNER]
    return (
        f"SELECT {', '.join(columns)}, folders.ids, folders.names "  # noqa: S608 (our own names)
        f"FROM {Token._meta.db_table} AS token "
        f"JOIN {User._meta.db_table} AS owner ON owner.id = token.owner_id AND owner.is_active, "
        "LATERAL (SELECT array_agg(folder.id ORDER BY folder.name) AS ids, "
        "array_agg(folder.name ORDER BY folder.name) AS names "
        f"FROM {Token.folders.through._meta.db_table} AS reach "
        f"JOIN {Folder._meta.db_table} AS folder ON folder.id = reach.folder_id "
        f"WHERE reach.token_id = token.id) AS folders WHERE {condition}"
    )


@cache
def _columns(model: type[models.Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


def _column(model: type[models.Model], attname: str) -> str:
    return next(field.column for field in model._meta.concrete_fields if field.attname == attname)
