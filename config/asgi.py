"""One process for console, admin, REST and MCP: MCP and files beside Django, not inside it."""

import asyncio
import logging
import os

import django
from django.conf import settings

from config.running_servers import RunningServer, register_server
from knowledge.api.asgi import Message, Receive, Send

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

django.setup(set_prefix=False)

# These need Django to be set up first.
from config.body_limit import BodyLimit  # noqa: E402
from config.django_app import DjangoApp, DjangoHandler, ThisThread  # noqa: E402
from config.entry import (  # noqa: E402
    DrainBody,
    RequestMetrics,
    RequestsPerAddress,
    Route,
    Routes,
)
from config.health import is_livez, is_readyz, send_alive, send_readiness  # noqa: E402
from config.metrics import publish_figures  # noqa: E402
from config.page_gate import PageGate  # noqa: E402
from console.events import PATH as EVENTS  # noqa: E402
from console.events import is_events, send_events  # noqa: E402
from console.large_forms import MAX_BYTES, MAX_SEC, is_large_form  # noqa: E402
from knowledge.api.import_gate import ImportGate, is_import  # noqa: E402
from knowledge.api.threads import CALLS, FILES, PAGES, threads_for  # noqa: E402
from knowledge.api.upload_app import UploadApp, is_upload  # noqa: E402
from knowledge.sources.readers import open_readers  # noqa: E402
from mcp_gateway.asgi import PATHS, McpApp  # noqa: E402
from tokens.call_slots import CallSlots  # noqa: E402
from tokens.rest_gate import RestGate, takes_token  # noqa: E402

FIGURES_SEC = 5

logger = logging.getLogger(__name__)

slots = CallSlots()
mcp_app = McpApp(slots)

_handler, _token_handler = DjangoHandler(), DjangoHandler(settings.TOKEN_MIDDLEWARE)
calls = RestGate(
    DjangoApp(_token_handler, threads_for(CALLS)),
    slots,
    refusals=DjangoApp(_token_handler, ThisThread()),
    people=DjangoApp(_handler, threads_for(CALLS)),
)
files, pages = (DjangoApp(_handler, threads_for(kind)) for kind in (FILES, PAGES))
page_gate = PageGate(pages)
limit_forms = BodyLimit(page_gate, slots.bodies, limit=MAX_BYTES, seconds=MAX_SEC)


async def _run_lifespan(scope: Message, receive: Receive, send: Send) -> None:
    await receive()
    home = str(settings.QUARRY_HOME)
    server = RunningServer(os.getpid(), home, settings.SETTINGS_GIVEN, settings.SERVED_AT)
    async with mcp_app.lifespan(), asyncio.TaskGroup() as tasks:
        publishing = tasks.create_task(_publish_figures())
        with open_readers(), register_server(settings.QUARRY_RUN_FOLDER, server):
            await send({"type": "lifespan.startup.complete"})
            await receive()
        publishing.cancel()
    await send({"type": "lifespan.shutdown.complete"})


async def _publish_figures() -> None:
    """Let the web processes of one server know of each other what /metrics answers for all."""
    while settings.QUARRY_WEB_PROCESSES > 1:
        try:
            publish_figures()
        except Exception:  # figures that are missing end nothing else
            logger.exception("Figures for /metrics were not published.")
        await asyncio.sleep(FIGURES_SEC)


application = RequestMetrics(
    RequestsPerAddress(
        DrainBody(
            Routes(
                Route(lambda scope: scope["type"] == "lifespan", _run_lifespan),
                Route(is_livez, send_alive, "/livez"),
                Route(is_readyz, send_readiness, "/readyz"),
                Route(lambda scope: scope["path"] in PATHS, mcp_app, "/mcp"),
                Route(
                    is_upload, UploadApp(slots.hold_file), "/api/v1/uploads/<str:upload_id>/file"
                ),
                Route(is_import, ImportGate(files, slots.hold_archive)),
                Route(is_events, send_events, EVENTS),
                Route(is_large_form, limit_forms),
                Route(takes_token, calls),
                Route(
                    lambda scope: scope["path"].startswith(settings.STATIC_URL),
                    BodyLimit(files, slots.bodies),
                ),
                Route(lambda scope: scope["path"] == "/metrics", BodyLimit(files, slots.bodies)),
                Route(lambda scope: True, BodyLimit(page_gate, slots.bodies)),
            )
        )
    )
)
