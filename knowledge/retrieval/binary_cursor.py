"""Runs search statements without the ORM: bound parameters, and results in binary."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pydantic_core
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import RawCursor
from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format
from psycopg.rows import DictRow, dict_row
from psycopg.types.numeric import Int8BinaryDumper

from knowledge.indexing.binary_rows import halfvec
from knowledge.models.prepared import Binary
from knowledge.providers.protocols import Vector


class _JsonLoader(Loader):
    """JSON by the parser that reads requests: in small pieces it is several times as quick."""

    format = Format.BINARY

    def load(self, data: Buffer) -> Any:
        text = bytes(data)[1:]  # after the version of the form
        try:
            return pydantic_core.from_json(text)
        except ValueError:  # nested deeper than it goes
            return json.loads(text)


def halves(vector: Vector) -> Binary:
    """A vector as a statement's value."""
    return Binary(halfvec(vector))


def fetch(statement: str, params: Mapping[str, Any]) -> list[DictRow]:
    """The rows of a statement with `%(name)s` parameters.

    What a connection runs again is prepared, and planned once for all values. So whatever its plan
    is to depend on must stand in its text.
    """
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    numbered, names = _with_numbers(statement)
    with RawCursor(database.connection, row_factory=dict_row) as cursor:
        # Else a number's size is part of its type, and each size a statement of its own.
        cursor.adapters.register_dumper(int, Int8BinaryDumper)
        cursor.adapters.register_loader("jsonb", _JsonLoader)
        values = [params[name] for name in names]
        cursor.execute(numbered, values, binary=True)
        rows: list[DictRow] = cursor.fetchall()
    return rows


_PARAMETER = re.compile(r"%(?:\((\w+)\)s|%)")


@lru_cache(maxsize=256)
def _with_numbers(statement: str) -> tuple[bytes, tuple[str, ...]]:
    """The statement with `$1`, `$2` …, and the names they stand for.

    The driver would look for its parameters anew at each call: a statement of search is too long
    for its cache, and that takes longer than everything else it does.
    """
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${numbers.setdefault(found[1], len(numbers) + 1)}" if found[1] else "%"

    return _PARAMETER.sub(number, statement).encode(), tuple(numbers)
