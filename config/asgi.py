"""One process for console, admin, REST and MCP: MCP and files beside Django, not inside it."""

import os
import warnings
from typing import cast

from django.conf import settings
from django.core.asgi import get_asgi_application

from config.body_limit import BodyLimit
from config.lingering import App, Lingering, Message, Receive, Send
from config.measuring import ROUTE, Measured
from config.running import RunningServer, noted

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# WhiteNoise hands out files by plain iterators; Django reads them whole and warns each time.
warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")

django_app = cast(App, get_asgi_application())

# These need Django to be set up first.
from knowledge.api.import_gate import ImportGate, is_import  # noqa: E402
from knowledge.api.receiving import is_upload, receive_file  # noqa: E402
from mcp_gateway.asgi import McpApp  # noqa: E402

mcp_app = McpApp()
limited_django_app = BodyLimit(django_app)
import_app = ImportGate(django_app)


async def _answer(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await _run_lifespan(receive, send)
    elif scope["path"] in ("/mcp", "/mcp/"):
        scope[ROUTE] = "/mcp"
        await mcp_app(scope, receive, send)
    elif is_upload(scope):
        scope[ROUTE] = "/api/v1/uploads/<str:upload_id>/file"
        await receive_file(scope, receive, send)
    elif is_import(scope):
        await import_app(scope, receive, send)
    else:
        await limited_django_app(scope, receive, send)


async def _run_lifespan(receive: Receive, send: Send) -> None:
    await receive()
    home = str(settings.QUARRY_HOME)
    server = RunningServer(os.getpid(), home, settings.SETTINGS_GIVEN)
    async with mcp_app.lifespan():
        with noted(settings.QUARRY_RUN_FOLDER, server):
            await send({"type": "lifespan.startup.complete"})
            await receive()
    await send({"type": "lifespan.shutdown.complete"})


application = Measured(Lingering(_answer))
