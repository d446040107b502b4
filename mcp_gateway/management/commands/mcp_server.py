import signal
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, close_old_connections

from knowledge.errors import InvalidToken
from knowledge.monitoring.metrics import share_metrics
from tokens.authentication import authenticate
from tokens.event_log import log


class Command(BaseCommand):
    help = "Serve the knowledge base over MCP alone: to one client by stdio, or by HTTP."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--transport", choices=["stdio", "http"], default="stdio")
        parser.add_argument("--host", default="127.0.0.1", help="where HTTP listens")
        parser.add_argument("--port", type=int, default=8001, help="where HTTP listens")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["transport"] == "stdio":
            self._serve_stdio(settings.QUARRY_TOKEN)
        else:
            self._serve_http(options["host"], options["port"])

    def _serve_stdio(self, secret: str) -> None:
        _check(secret)
        import anyio

        from mcp_gateway.server import serve_stdio

        anyio.run(serve_stdio, secret)

    def _serve_http(self, host: str, port: int) -> None:
        import uvicorn

        share_metrics(settings.QUARRY_HOME / "metrics")
        self.stderr.write(f"MCP at http://{host}:{port}/mcp", self.style.SUCCESS)
        # uvicorn, once it has stopped, sends itself the signal anew: that must end it in order.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with log.batch():
            uvicorn.run(
                "config.mcp_asgi:application",
                host=host,
                port=port,
                lifespan="on",
                log_config=None,
                http="config.connections:LimitedProtocol",
                ws="none",
                forwarded_allow_ips=settings.QUARRY_TRUSTED_PROXIES,
                server_header=False,
            )


def _check(secret: str) -> None:
    """Tell a person at once what a client could only report as a server that died."""
    if not secret:
        raise CommandError("Set QUARRY_TOKEN to a token; `manage.py mint_token` makes one.")
    try:
        authenticate(secret)
    except InvalidToken as error:
        raise CommandError(f"QUARRY_TOKEN is refused. {error.message}") from None
    except DatabaseError as error:
        raise CommandError(f"The database does not answer: {error}") from None
    finally:
        close_old_connections()
