import asyncio
import gc
import logging
import signal
import socket
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, connections, transaction
from django.db.utils import OperationalError

from knowledge.errors import ProviderUnavailable
from knowledge.jobs.broker import check_broker
from knowledge.jobs.notice_streams import hub
from knowledge.maintenance.tables import has_every_table
from knowledge.management.actors import import_actors
from knowledge.monitoring.metrics import share_metrics
from knowledge.providers import check_choices, live_embedder, load_reranker
from knowledge.providers.protocols import LocalModel
from mcp_gateway.management.processes import WebProcesses, WorkerProcess
from tokens.event_log import log
from tokens.first_run import FirstRun, set_up_first_run

logger = logging.getLogger(__name__)

SWITCH_SEC = 0.0005
"""How long one call may compute while another waits to go on, as each does after each statement.

By default it is ten times as long, and a call of twenty statements waits for all others each time.
"""


class Command(BaseCommand):
    help = "Set up what is missing, then serve the admin, REST, MCP and the worker until Ctrl-C."
    requires_system_checks = []  # they find what only a developer can have done wrong

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="where to listen (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="where to listen (8000)")
        parser.add_argument("--no-worker", action="store_true", help="leave jobs to other workers")

    def handle(self, *args: Any, **options: Any) -> None:
        host = options["host"]
        worker = None if options["no_worker"] else WorkerProcess()
        try:
            with _remembering_interrupts():
                listener = _listen(host, options["port"])
                share_metrics(settings.QUARRY_HOME / "metrics", is_first=True)
                self._prepare()
                _load_for_all()
                if worker:
                    worker.fork(listener)
            sys.setswitchinterval(SWITCH_SEC)
            settings.SERVED_AT = _address(host, listener.getsockname()[1])
            if settings.QUARRY_WEB_PROCESSES == 1:
                if worker:
                    worker.keep_running()
                self._serve(listener, lambda: self._greet(host))
            else:
                web = WebProcesses(
                    settings.QUARRY_WEB_PROCESSES,
                    lambda greet: self._serve_as_one_of_several(listener, greet),
                )
                with web.running():
                    if worker:
                        worker.keep_running()
                    self._greet(host)
                    web.keep_running()
        except KeyboardInterrupt:
            pass
        finally:
            if worker:
                worker.stop()
        self._say("Stopped.")

    def _prepare(self) -> None:
        check_choices()  # a name that there is not is told now, and not at the first search
        try:
            check_broker()
        except ProviderUnavailable as error:
            raise CommandError(f"{error.message}; check QUARRY_BROKER_URL.") from None
        self._say("Preparing the database…")
        try:
            if not has_every_table():
                call_command("migrate", verbosity=0, interactive=False)
        except OperationalError as error:
            raise CommandError(f"The database does not answer: {error}") from None
        # Shown before they are committed: a kill between the two must leave nobody locked out.
        with transaction.atomic():
            if first_run := set_up_first_run():
                self._show_once(first_run)
        connections.close_all()

    def _serve_as_one_of_several(self, listener: socket.socket, greet: Callable[[], None]) -> None:
        share_metrics(settings.QUARRY_HOME / "metrics")
        self._serve(listener, greet)

    def _serve(self, listener: socket.socket, greet: Callable[[], None]) -> None:
        # uvicorn's own choice of event loop, which is uvloop where there is one.
        with log.batch(), asyncio.Runner(loop_factory=_fastest_loop()) as runner:
            runner.run(self._answer_requests(listener, greet))

    async def _answer_requests(self, listener: socket.socket, greet: Callable[[], None]) -> None:
        import uvicorn

        config = uvicorn.Config(
            "config.asgi:application",
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=10,
            http="config.connections:LimitedProtocol",
            ws="none",
            forwarded_allow_ips=settings.QUARRY_TRUSTED_PROXIES,
            server_header=False,
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.05)
        if server.started:
            gc.freeze()  # what is loaded by now stays, and need not be looked through for garbage
            greet()
            threading.Thread(target=_warm_up, daemon=True).start()
        closing = asyncio.create_task(_end_streams(server))
        await serving
        closing.cancel()
        if not server.started:
            raise CommandError("The server did not start; the lines above say why.")

    def _show_once(self, first_run: FirstRun) -> None:
        self._say(
            "\nFirst run. These are shown once, so keep them:\n"
            f"  admin user      {first_run.username}\n"
            f"  admin password  {first_run.password}\n"
            f"  token           {first_run.token}   (whole library, read and write)\n\n"
        )

    def _greet(self, host: str) -> None:
        base = settings.SERVED_AT
        self._say(
            f"Quarry {settings.VERSION} is up.\n"
            f"  pages  {base}/\n"
            f"  admin  {base}/admin/\n"
            f"  REST   {base}/api/v1/   docs at {base}/api/v1/docs/\n"
            f"  MCP    {base}/mcp\n"
            "Ctrl-C stops everything."
        )
        if host not in ("127.0.0.1", "::1", "localhost"):
            self._say(f"Names it answers to (QUARRY_ALLOWED_HOSTS): {settings.ALLOWED_HOSTS}")

    def _say(self, words: str) -> None:
        self.stdout.write(words)
        self.stdout.flush()


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    from uvicorn.loops.auto import auto_loop_factory

    return auto_loop_factory(use_subprocess=False)


async def _end_streams(server: Any) -> None:
    """End open event streams when the server is to stop; it would wait for them otherwise."""
    while not server.should_exit:
        await asyncio.sleep(0.5)
    hub.close()


@contextmanager
def _remembering_interrupts() -> Iterator[None]:
    """Stop after this at the latest: an interrupt that arrives within a destructor is lost.

    A service manager's stop is the same as Ctrl-C, also after the server has had its turn.
    """
    came = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.default_int_handler(number, frame)

    stops = (signal.SIGINT, signal.SIGTERM)
    for number in stops:
        signal.signal(number, interrupt)
    yield
    for number in stops:
        signal.signal(number, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything else is set up, so that a taken one is told at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Accepted connections inherit it. asyncio sets it only on sockets that it made itself, and
    # without it Nagle's algorithm keeps each body back until the client has acknowledged the head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # until then a second process may bind the same port
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "it must be between 0 and 65535"
        raise CommandError(
            f"Port {port} on {host} cannot be used ({reason}); "
            "choose another with `make run PORT=…`, or --port."
        ) from None
    return listener


def _address(host: str, port: int) -> str:
    shown_host = "localhost" if host in ("127.0.0.1", "::1", "0.0.0.0") else host  # noqa: S104
    return f"http://{shown_host}:{port}"


def _load_for_all() -> None:
    """What the web processes and the worker need, so that they fork with it; and no connection."""
    for module in (settings.ASGI_APPLICATION.rpartition(".")[0], settings.ROOT_URLCONF):
        import_module(module)
    import_actors()
    connection.close_pool()  # type: ignore[attr-defined]
    try:
        if isinstance(embedder := live_embedder(), LocalModel):
            embedder.load()
    except ProviderUnavailable as error:  # words answer without it
        logger.warning("%s", error.message)
    gc.collect()
    gc.freeze()  # a collection would write to what they share


def _warm_up() -> None:
    """Load the models now, so that the first search does not wait for them."""
    try:
        live_embedder().embed_query("warm up")
    except ProviderUnavailable as error:
        logger.warning("The embedder is not ready: %s", error.message)
    load_reranker()  # not before web processes are forked: it has a process of its own
