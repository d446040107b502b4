"""Django's Postgres backend, which brings the bundled server up before it connects.

With `EMBEDDED_HOME` set, host, port and user come from that server; without it, this is
Django's own backend.
"""

from collections.abc import Iterable
from typing import Any

import psycopg
from django.db.backends.postgresql import base, client
from django.db.utils import OperationalError
from psycopg_pool import ConnectionPool

from config.embedded import EmbeddedPostgresError, ensure_running


class DatabaseClient(client.DatabaseClient):
    def runshell(self, parameters: Iterable[str]) -> None:
        self.connection.get_connection_params()
        super().runshell(parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient
    statement_timeout_ms: int | None = None  # of this thread's connections; None is the server's

    def get_connection_params(self) -> dict[str, Any]:
        """Called before each connection, so that a server that went away is brought back."""
        if home := self.settings_dict.get("EMBEDDED_HOME"):
            try:
                server = ensure_running(home)
            except EmbeddedPostgresError as error:
                raise OperationalError(str(error)) from error
            for name in ("host", "port", "user"):
                self.settings_dict[name.upper()] = server[name]
        return super().get_connection_params()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection known to be alive; the pool's own check pauses for seconds at a dead one."""
        pool: ConnectionPool | None = self.pool  # type: ignore[attr-defined]
        if pool is None:
            return super().get_new_connection(conn_params)
        for _ in range(pool.max_size + 1):
            connection = super().get_new_connection(conn_params)
            if _is_alive(connection, self.statement_timeout_ms):
                return connection
            pool.putconn(connection)  # which makes a new one in its place
        raise OperationalError("The database drops every connection; is it restarting?")


def _is_alive(connection: psycopg.Connection[Any], timeout_ms: int | None) -> bool:
    """Check the connection by setting the statement timeout, which must be sent anyway."""
    value = "DEFAULT" if timeout_ms is None else str(int(timeout_ms))
    autocommits = connection.autocommit
    try:
        connection.autocommit = True
        connection.execute(f"SET statement_timeout = {value}".encode())
        connection.autocommit = autocommits
    except psycopg.OperationalError:
        return False
    return True
