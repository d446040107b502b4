"""Locks on rows that others are about to name: they cannot be deleted, but may be changed."""

from collections.abc import Collection
from uuid import UUID

from django.db import connection, models
from psycopg import sql

_LOCK = sql.SQL("SELECT 1 FROM {} WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE")


def lock_keys(model: type[models.Model], ids: Collection[UUID]) -> None:
    """Keep rows from being deleted until the caller's transaction ends; a missing one is ignored.

    A foreign key takes this lock too, but only at the commit, when the row may be gone, or
    held by somebody who waits for this very transaction. In the order of ids, to avoid deadlock.
    """
    table = sql.Identifier(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(_LOCK.format(table), [list(ids)])
