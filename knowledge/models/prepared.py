"""Statements that nearly every call sends, prepared: planned once for each connection.

To send one and wait for its answer takes longer than most of them do. So writes whose answer nobody
needs can go with the next statement, as parts of it.
"""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import count
from types import NoneType
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models.expressions import DatabaseDefault
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

Row = tuple[Any, ...]
Values = Sequence[Any]
M = TypeVar("M", bound=models.Model)

_MOST_CURSORS = 32
"""So many statements has a connection prepared at once."""
_PLACE = re.compile("%[sb]")
_waiting = threading.local()


@dataclass(frozen=True, slots=True)
class Binary:
    """A statement's value as Postgres itself writes it."""

    value: bytes


class BinaryDumper(Dumper):
    """Sends the bytes as they are; the statement, or the column, says what they mean."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: Binary) -> Buffer:
        return obj.value


psycopg.adapters.register_dumper(Binary, BinaryDumper)  # before there is any connection


def fetch_row(statement: str, values: Values) -> Row | None:
    """The first row that a statement answers; each `%s` in it is a value."""
    return _fetch_first(_joined((statement,)), values, False, {})


# Writes ---------------------------------------------------------------------------------------


@contextmanager
def joined_writes() -> Iterator[None]:
    """Within this block, a write without an answer waits for the next statement that has one.

    They run as parts of that one, and see the tables as they were before it. At the end of the
    block none waits any more; after an error none is sent.
    """
    outer = _writes()
    _waiting.writes = [] if outer is None else outer
    try:
        yield
        if _waiting.writes:
            send("SELECT true", [])
    except BaseException:
        _waiting.writes.clear()
        raise
    finally:
        _waiting.writes = outer


def send(statement: str, values: Values) -> Row | None:
    """The first row that a statement answers, sent with the writes that wait.

    Whatever wraps Django's own statements wraps it too: an edge may stop what is no longer wanted.
    """
    writes = _writes() or []
    sent = [*writes, (statement, values)]
    writes.clear()
    run: Callable[..., Row | None] = _fetch_first
    for wrapper in reversed(connection.execute_wrappers):
        run = partial(wrapper, run)
    context = {"connection": connection, "cursor": None}
    text = _joined(tuple(statement for statement, _ in sent))
    return run(text, [value for _, some in sent for value in some], False, context)


def write(statement: str, values: Values) -> None:
    """Have a statement sent that answers nothing: with the next one, or at once outside a block."""
    writes = _writes()
    if writes is None:
        with joined_writes():
            write(statement, values)
    else:
        writes.append((statement, values))


def insert_rows(rows: Sequence[M]) -> None:
    """Insert new rows of one model by one statement; of a single one its SQL is written only once.

    What Postgres itself gives a single row is read if it is asked for, but for its number.
    """
    if len(rows) > 1:
        type(rows[0])._default_manager.bulk_create(rows)
    for row in rows if len(rows) == 1 else ():
        values = _values_of(row)
        write(_insert(type(row), tuple(values)), list(values.values()))
        row._state.adding, row._state.db = False, connection.alias


def _values_of(row: models.Model) -> dict[str, Any]:
    """What each column is to hold, but for those that Postgres fills."""
    values = {}
    database = connections[DEFAULT_DB_ALIAS]
    for field, column, name, as_they_are in _columns(type(row)):
        value = getattr(row, name) if name else field.pre_save(row, add=True)
        if type(value) in as_they_are:
            values[column] = value
        elif isinstance(value, DatabaseDefault):
            del row.__dict__[field.attname]
        elif not (value is None and isinstance(field, models.AutoField)):
            values[column] = field.get_db_prep_save(value, database)
    return values


class _Column(NamedTuple):
    field: "models.Field[Any, Any]"
    name: str
    attribute: str
    """Of the row, whose value is what is saved; empty if the field makes another one of it."""
    as_they_are: frozenset[type]
    """The types of values that the field hands to the driver unchanged."""


_UNCHANGED = {
    models.BooleanField: bool,
    models.CharField: str,
    models.TextField: str,
    models.UUIDField: UUID,
}


@cache
def _columns(model: type[models.Model]) -> list[_Column]:
    """To have each field look at each value took as long as the statement."""
    return [
        _Column(
            field,
            field.column,
            field.attname if type(field).pre_save is models.Field.pre_save else "",
            frozenset()
            if isinstance(field, models.AutoField)
            else frozenset({NoneType, _UNCHANGED.get(type(field), NoneType)}),
        )
        for field in model._meta.local_concrete_fields
    ]


@cache
def _insert(model: type[models.Model], columns: tuple[str, ...]) -> str:
    named = ", ".join(f'"{column}"' for column in columns)
    places = ", ".join(["%s"] * len(columns))
    return f'INSERT INTO "{model._meta.db_table}" ({named}) VALUES ({places})'  # noqa: S608


def _writes() -> list[tuple[str, Values]] | None:
    """Those that wait on this thread; None outside of any block."""
    writes: list[tuple[str, Values]] | None = getattr(_waiting, "writes", None)
    return writes


def _fetch_first(statement: str, values: Values, many: bool, context: Any) -> Row | None:
    database = connections[DEFAULT_DB_ALIAS]  # `connection` looks it up at each use
    database.ensure_connection()
    with database.wrap_database_errors:
        cursor = _cursor_for(database.connection, statement)
        return cursor.execute(statement, values, prepare=True).fetchone()


def _cursor_for(database: psycopg.Connection[Row], statement: str) -> psycopg.RawCursor[Row]:
    """The connection's own of this statement, which knows by then how its values are sent."""
    cursors: dict[str, psycopg.RawCursor[Row]] = vars(database).setdefault("quarry_cursors", {})
    if statement not in cursors:
        if len(cursors) >= _MOST_CURSORS:
            cursors.clear()
        cursors[statement] = psycopg.RawCursor(database)
    return cursors[statement]


@lru_cache(maxsize=256)
def _joined(statements: tuple[str, ...]) -> str:
    """The last statement with those before it as its parts, and `$1`, `$2` … for their values."""
    *writes, last = statements
    parts = ", ".join(f"write_{n} AS ({each})" for n, each in enumerate(writes))
    numbers = count(1)
    text = f"WITH {parts} {last}" if parts else last
    return _PLACE.sub(lambda _: f"${next(numbers)}", text)
