"""Runs search statements without the ORM: bound parameters, and results in binary."""

from dataclasses import dataclass
from typing import Any

from django.db import connection
from psycopg import Cursor
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format
from psycopg.rows import DictRow, dict_row

from knowledge.indexing.binary_rows import halfvec
from knowledge.providers.protocols import Vector


@dataclass(frozen=True, slots=True)
class Binary:
    """A statement's value as Postgres itself writes it."""

    value: bytes


def halves(vector: Vector) -> Binary:
    """A vector as a statement's value."""
    return Binary(halfvec(vector))


class _BinaryDumper(Dumper):
    """Sends the bytes as they are; the statement's cast says what they mean."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: Binary) -> Buffer:
        return obj.value


def fetch(statement: str, params: dict[str, Any]) -> list[DictRow]:
    """The rows of a statement, planned anew for its values."""
    connection.ensure_connection()
    with Cursor(connection.connection, row_factory=dict_row) as cursor:
        cursor.adapters.register_dumper(Binary, _BinaryDumper)
        cursor.execute(statement, params, prepare=False, binary=True)
        rows: list[DictRow] = cursor.fetchall()
    return rows
