"""Django's Postgres backend, which brings the bundled server up before it connects.

With `EMBEDDED_HOME` set, host, port and user come from that server; without it, this is
Django's own backend.
"""

import json
import select
from collections.abc import Iterable
from functools import partial
from time import monotonic
from typing import Any

import psycopg
from django.db.backends.postgresql import base, client, operations
from django.db.utils import OperationalError
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from config.embedded import EmbeddedPostgresError, ensure_running

_MOST_PREPARED = 32
"""Statements that a connection keeps plans of; those of a search take about 0.2 MB each."""
_UNCHECKED_SEC = 30
"""For so long after its last use, a connection that says nothing is taken to be alive."""
_SERVER_SEC = 1.0
"""For so long a bundled server that was seen is taken to be there, while connections wait."""

_seen_at: dict[Any, float] = {}
"""When the server of a home was last seen by this process."""


class DatabaseClient(client.DatabaseClient):
    def runshell(self, parameters: Iterable[str]) -> None:
        self.connection.get_connection_params()
        super().runshell(parameters)


class DatabaseOperations(operations.DatabaseOperations):
    def adapt_json_value(self, value: Any, encoder: type[json.JSONEncoder] | None) -> Any:
        """JSON with its letters as they are; escaped, some scripts take six times as much."""
        return Jsonb(value, dumps=partial(json.dumps, cls=encoder, ensure_ascii=False))


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient
    ops_class = DatabaseOperations
    statement_timeout_ms: int | None = None  # of this thread's connections; None is the server's

    def get_connection_params(self) -> dict[str, Any]:
        """Called before each connection, so that a server that went away is brought back.

        Where the pool has one to give, that is looked at instead: looking after the server takes
        as long as a statement.
        """
        home = self.settings_dict.get("EMBEDDED_HOME")
        if home and not (self._has_idle_connection() and _was_just_seen(home)):
            self._have_server_run()
        return super().get_connection_params()

    def _configure_connection(self, connection: psycopg.Connection[Any]) -> bool:
        connection.prepared_max = _MOST_PREPARED
        return bool(super()._configure_connection(connection))  # type: ignore[misc]

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection known to be alive; the pool's own check pauses for seconds at a dead one."""
        pool: ConnectionPool | None = self.pool  # type: ignore[attr-defined]
        if pool is None:
            return super().get_new_connection(conn_params)
        for _ in range(pool.max_size + 1):
            connection = super().get_new_connection(conn_params)
            if _is_alive(connection, self.statement_timeout_ms):
                return connection
            try:
                self._have_server_run()
            finally:
                pool.putconn(connection)  # which makes a new one in its place
        raise OperationalError("The database drops every connection; is it restarting?")

    def _has_idle_connection(self) -> bool:
        pool: ConnectionPool | None = self._connection_pools.get(self.alias)  # type: ignore[attr-defined]
        # A pool that checks for itself drops dead ones, and tries for seconds to make others.
        is_checked_here = not self.settings_dict["CONN_HEALTH_CHECKS"]
        return is_checked_here and pool is not None and pool.get_stats()["pool_available"] > 0

    def _have_server_run(self) -> None:
        home = self.settings_dict.get("EMBEDDED_HOME")
        if not home:
            return
        try:
            server = ensure_running(home)
        except EmbeddedPostgresError as error:
            raise OperationalError(str(error)) from error
        for name in ("host", "port", "user"):
            self.settings_dict[name.upper()] = server[name]
        _seen_at[home] = monotonic()


def _was_just_seen(home: Any) -> bool:
    return monotonic() - _seen_at.get(home, -_SERVER_SEC) < _SERVER_SEC


def _is_alive(connection: psycopg.Connection[Any], timeout_ms: int | None) -> bool:
    """Check the connection, and have its statements end in so much time.

    One that was used shortly before is asked nothing: when the server closes a connection, or has
    anything else to say on it, its socket has something to be read.
    """
    state = vars(connection)
    is_as_left = state.get("quarry_timeout_ms", "unknown") == timeout_ms
    is_fresh = monotonic() - state.get("quarry_checked_at", -_UNCHECKED_SEC) < _UNCHECKED_SEC
    if not (is_as_left and is_fresh and _is_silent(connection)):
        if not _set_timeout(connection, timeout_ms):
            return False
        state["quarry_timeout_ms"] = timeout_ms
    state["quarry_checked_at"] = monotonic()
    return True


def _is_silent(connection: psycopg.Connection[Any]) -> bool:
    if connection.closed or connection.pgconn.status != psycopg.pq.ConnStatus.OK:
        return False
    watch = select.poll()
    watch.register(connection.pgconn.socket, select.POLLIN | select.POLLHUP | select.POLLERR)
    return not watch.poll(0)


def _set_timeout(connection: psycopg.Connection[Any], timeout_ms: int | None) -> bool:
    """Whether the connection lives, which its answer tells."""
    value = "DEFAULT" if timeout_ms is None else str(int(timeout_ms))
    autocommits = connection.autocommit
    try:
        connection.autocommit = True
        connection.execute(f"SET statement_timeout = {value}".encode())
        connection.autocommit = autocommits
    except psycopg.OperationalError:
        return False
    return True
