"""One process for console, admin, REST and MCP: MCP and files beside Django, not inside it."""

import os
import warnings
from typing import cast

from django.conf import settings
from django.core.asgi import get_asgi_application

from config.body_limit import BodyLimit
from config.entry import DrainBody, RequestMetrics, Route, Routes
from config.running_servers import RunningServer, register_server
from knowledge.api.asgi import App, Message, Receive, Send

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# WhiteNoise hands out files by plain iterators; Django reads them whole and warns each time.
warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")

django_app = cast(App, get_asgi_application())

# These need Django to be set up first.
from console.events import PATH as EVENTS  # noqa: E402
from console.events import is_events, send_events  # noqa: E402
from console.large_forms import LargeForms, is_large_form  # noqa: E402
from knowledge.api.import_gate import ImportGate, is_import  # noqa: E402
from knowledge.api.upload_app import is_upload, receive_file  # noqa: E402
from knowledge.sources.readers import open_readers  # noqa: E402
from mcp_gateway.asgi import PATHS, McpApp  # noqa: E402

mcp_app = McpApp()


async def _run_lifespan(scope: Message, receive: Receive, send: Send) -> None:
    await receive()
    home = str(settings.QUARRY_HOME)
    server = RunningServer(os.getpid(), home, settings.SETTINGS_GIVEN)
    async with mcp_app.lifespan():
        with open_readers(), register_server(settings.QUARRY_RUN_FOLDER, server):
            await send({"type": "lifespan.startup.complete"})
            await receive()
    await send({"type": "lifespan.shutdown.complete"})


application = RequestMetrics(
    DrainBody(
        Routes(
            Route(lambda scope: scope["type"] == "lifespan", _run_lifespan),
            Route(lambda scope: scope["path"] in PATHS, mcp_app, "/mcp"),
            Route(is_upload, receive_file, "/api/v1/uploads/<str:upload_id>/file"),
            Route(is_import, ImportGate(django_app)),
            Route(is_events, send_events, EVENTS),
            Route(is_large_form, LargeForms(django_app, BodyLimit(django_app))),
            Route(lambda scope: True, BodyLimit(django_app)),
        )
    )
)
