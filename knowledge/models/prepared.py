"""Statements that nearly every call sends, prepared: planned once for each connection."""

from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import connection


def fetch_row(statement: str, values: Sequence[Any]) -> tuple[Any, ...] | None:
    """The first row that a statement answers."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        row: tuple[Any, ...] | None = cursor.execute(statement, values, prepare=True).fetchone()
    return row
