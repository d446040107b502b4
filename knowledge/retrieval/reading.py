"""How search statements are sent: past the ORM, values apart from the text, answers in binary."""

from typing import Any

from django.db import connection
from pgvector import HalfVector
from psycopg import Cursor
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format
from psycopg.rows import DictRow, dict_row

from knowledge.providers.protocols import Vector


class Halves:
    """A vector as a statement's value."""

    def __init__(self, vector: Vector) -> None:
        self.binary: bytes = HalfVector(vector).to_binary()


class _HalvesDumper(Dumper):
    """Sends a vector's own bytes; the statement's cast says what they are."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: Halves) -> Buffer:
        return obj.binary


def fetch(statement: str, params: dict[str, Any]) -> list[DictRow]:
    """The rows of a statement, planned anew for its values."""
    connection.ensure_connection()
    with Cursor(connection.connection, row_factory=dict_row) as cursor:
        cursor.adapters.register_dumper(Halves, _HalvesDumper)
        cursor.execute(statement, params, prepare=False, binary=True)
        rows: list[DictRow] = cursor.fetchall()
    return rows
