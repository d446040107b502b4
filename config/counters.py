"""A Django cache of counters on one unlogged Postgres table, with an atomic `add` and `incr`.

Only whole numbers are kept: it serves rate limits, where every process must count alike.
"""

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection

from knowledge.models.prepared import fetch_row

_SWEEP_CHANCE = 0.01


class PostgresCounters(BaseCache):
    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        self._sweep_sometimes()
        written = self._run(
            "INSERT INTO quarry_counter AS c (key, value, expires_at) VALUES (%s, %s, %s) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, "
            "expires_at = excluded.expires_at WHERE c.expires_at < now() RETURNING value",
            [self.make_and_validate_key(key, version), int(value), self._expiry(timeout)],
        )
        return written is not None

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        value = self._run(
            "SELECT value FROM quarry_counter "
            "WHERE key = %s AND (expires_at IS NULL OR expires_at >= now())",
            [self.make_and_validate_key(key, version)],
        )
        return default if value is None else value

    def get_many(self, keys: Iterable[Any], version: int | None = None) -> dict[Any, Any]:
        asked = {self.make_and_validate_key(key, version): key for key in keys}
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT key, value FROM quarry_counter "
                "WHERE key = ANY(%s) AND (expires_at IS NULL OR expires_at >= now())",
                [list(asked)],
            )
            return {asked[key]: int(value) for key, value in cursor.fetchall()}

    def set(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._run(
            "INSERT INTO quarry_counter (key, value, expires_at) VALUES (%s, %s, %s) "
            "ON CONFLICT (key) DO UPDATE "
            "SET value = excluded.value, expires_at = excluded.expires_at",
            [self.make_and_validate_key(key, version), int(value), self._expiry(timeout)],
        )

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        value = self._run(
            "UPDATE quarry_counter SET value = value + %s "
            "WHERE key = %s AND (expires_at IS NULL OR expires_at >= now()) RETURNING value",
            [delta, self.make_and_validate_key(key, version)],
        )
        if value is None:
            raise ValueError(f"Key {key!r} not found")
        return value

    def add_and_read(self, key: str, delta: int, other: str, *, timeout: int) -> tuple[int, int]:
        """Add to a counter, which begins at 0; what it and the other one hold now."""
        self._sweep_sometimes()
        values = [self.make_key(key), delta, self._expiry(timeout), self.make_key(other)]
        counted, beside = fetch_row(_ADD_AND_READ, values) or (0, 0)
        return int(counted), int(beside or 0)

    def validate_key(self, key: str) -> None:
        """Any text is a key: memcached's rules, of which Django warns, are not this table's."""

    def delete(self, key: Any, version: int | None = None) -> bool:
        gone = self._run(
            "DELETE FROM quarry_counter WHERE key = %s RETURNING value",
            [self.make_and_validate_key(key, version)],
        )
        return gone is not None

    def clear(self) -> None:
        self._run("DELETE FROM quarry_counter", [])

    def _sweep_sometimes(self) -> None:
        if random.random() < _SWEEP_CHANCE:  # noqa: S311 (housekeeping, not a secret)
            self._run("DELETE FROM quarry_counter WHERE expires_at < now()", [])

    def _expiry(self, timeout: Any) -> datetime | None:
        seconds = self.get_backend_timeout(timeout)
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

    def _run(self, statement: str, values: Sequence[str | int | datetime | None]) -> int | None:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            row = cursor.fetchone() if cursor.description else None
        return None if row is None else int(row[0])


_ADD_AND_READ = """
    INSERT INTO quarry_counter AS c (key, value, expires_at) VALUES (%s, %s, %s)
    ON CONFLICT (key) DO UPDATE SET
        value = excluded.value + CASE WHEN c.expires_at < now() THEN 0 ELSE c.value END,
        expires_at = greatest(c.expires_at, excluded.expires_at)
    RETURNING value,
        (SELECT value FROM quarry_counter AS other
         WHERE other.key = %s AND other.expires_at >= now())"""
