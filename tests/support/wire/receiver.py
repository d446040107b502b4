"""A webhook's receiver: checks each signature as docs/rest/webhooks.md says, then keeps it."""

import base64
import hashlib
import hmac
import time
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


class Receiver:
    """Answers the statuses it was given, else 204; keeps what was rightly signed."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.secret = ""
        self.ids: list[str] = []
        self.told: list[dict[str, Any]] = []
        self.statuses: list[int] = []
        self.headers: dict[str, str] = {}
        server.expect_request("/hook", method="POST").respond_with_handler(self.receive)

    @property
    def url(self) -> str:
        return self.server.url_for("/hook")

    @property
    def host(self) -> str:
        return f"{self.server.host}:{self.server.port}"

    def receive(self, request: Request) -> Response:
        body = request.get_data()
        if not is_signed(self.secret, dict(request.headers), body):
            return Response("", 401)
        self.ids.append(request.headers["webhook-id"])
        self.told.append(request.get_json())
        return Response("", self.statuses.pop(0) if self.statuses else 204, self.headers)


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Written from the public description alone, so that it checks the sender."""
    given = {name.lower(): value for name, value in headers.items()}
    stamp = given["webhook-timestamp"]
    if abs(time.time() - int(stamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    signed = f"{given['webhook-id']}.{stamp}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return any(
        hmac.compare_digest(f"v1,{expected}", each) for each in given["webhook-signature"].split()
    )
