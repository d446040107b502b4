"""A whole Quarry with no key, a site that it may fetch from, and somebody who uses both."""

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pytest
from pytest_httpserver import HTTPServer

from tests.support.mcp_agent import Agent
from tests.support.recordings import silence, speech, written
from tests.support.running import Quarry, rows
from tests.support.waiting import DEADLINE, eventually

WAV = "audio/wav"
SAID = "ask not what your country can do for you"
BEGINS_SEC = 0.3
"""When the speaker of the sample begins to speak."""


class Hit(NamedTuple):
    """A search result, and the item that it is of."""

    result: dict[str, Any]
    item: dict[str, Any]

    @property
    def title(self) -> str:
        return str(self.result["title"])

    @property
    def passage(self) -> str:
        return str(self.result["passage"])

    @property
    def url(self) -> str:
        return str(self.result["locator"]["url"])

    @property
    def page(self) -> int | None:
        page: int | None = self.result["locator"]["page"]
        return page

    @property
    def start_sec(self) -> float:
        return float(self.result["locator"]["start_sec"])

    @property
    def span_text(self) -> str:
        return str(self.item["text"][slice(*self.result["locator"]["char_span"])])


@dataclass(frozen=True)
class World:
    """A running Quarry, somebody with its token, and a site that it may fetch from."""

    quarry: Quarry
    site: HTTPServer
    folder: Path

    def serve(self, path: str, content: bytes, media_type: str) -> str:
        self.site.expect_request(path).respond_with_data(content, content_type=media_type)
        return str(self.site.url_for(path))

    def recorded(self, name: str, *, after: float) -> bytes:
        """Real speech after some seconds of none."""
        sound = np.concatenate([silence(after), speech(), silence(1)])
        return written(self.folder / name, sound).read_bytes()

    def added_and_found(self, url: str, query: str) -> Hit:
        """By an agent, over MCP."""
        added = self._agent.call("add_to_knowledge", kind="url", url=url).structured_content
        item_id = str(added["user_item_id"])
        assert self._finished(item_id) == ("ready", "")
        found = self._agent.call("search_knowledge_base", query=query, limit=20)
        return self._hit(item_id, found.structured_content["results"])

    def sent_and_found(self, name: str, media_type: str, content: bytes, query: str) -> Hit:
        """By a program, over REST."""
        status, added = self._send(name, media_type, content)
        assert status == 201, added
        assert self._finished(added["user_item_id"]) == ("ready", "")
        found = self._ask("POST", "search", query=query, mode="hybrid", limit=20)[1]
        return self._hit(added["user_item_id"], found["results"])

    def outcome(self, name: str, media_type: str, content: bytes) -> str:
        status, answer = self._send(name, media_type, content)
        if status != 201:
            return str(answer.get("reason") or answer["error"])
        assert self._finished(answer["user_item_id"])[0] == "failed"
        shown = self._ask("GET", f"items/{answer['user_item_id']}")[1]
        assert shown["status"] == "failed"
        assert shown["progress"]["error"].endswith(".")
        return str(shown["progress"]["reason"])

    def assert_heard(self, hit: Hit, *, after: float, link: str) -> None:
        assert SAID in "".join(each for each in hit.passage.lower() if each not in ",.")
        assert hit.start_sec == pytest.approx(after + BEGINS_SEC, abs=1.5)
        assert hit.url == f"{link}#t={int(hit.start_sec)}"
        assert hit.item["transcript_by"] == "whisper"

    def _hit(self, item_id: str, results: list[dict[str, Any]]) -> Hit:
        """The item's hit; afterwards it is out of search, so that its words can be heard again."""
        hit = next(each for each in results if each["user_item_id"] == item_id)
        item = self._ask("GET", f"items/{item_id}")[1]
        assert self._ask("PATCH", f"items/{item_id}", in_kb=False)[0] == 200
        return Hit(hit, item)

    def _finished(self, item_id: str) -> tuple[str, str]:
        """The state and the reason, once there is no more to come; told by the tables, for asking
        over and over would use up the token's hour."""
        asked = (
            "SELECT state, reason FROM knowledge_content AS content "
            "JOIN knowledge_item AS item ON item.content_id = content.id "
            f"WHERE item.id = '{item_id}' AND (state = 'failed' OR index_status = 'done')"
        )
        with self.quarry.database() as database:
            eventually(lambda: rows(database, asked))
            [(state, reason)] = rows(database, asked)
        return state, reason

    def _send(self, name: str, media_type: str, content: bytes) -> tuple[int, Any]:
        """In three steps, of which the first that is refused is the last."""
        asked = {"filename": name, "mime_type": media_type, "size": len(content)}
        status, begun = self._ask("POST", "uploads/signed-url", **asked)
        if status != 201:
            return status, begun
        url = urlsplit(begun["signed_url"])
        connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=DEADLINE)
        connection.request("PUT", f"{url.path}?{url.query}", content, begun["headers"])
        assert connection.getresponse().status == 200
        connection.close()
        route = "finalize" if media_type == WAV else "finalize-document"
        return self._ask("POST", f"uploads/{route}", upload_id=begun["upload_id"])

    def _ask(self, method: str, route: str, **body: Any) -> tuple[int, Any]:
        sent = json.dumps(body) if body else None
        return self.quarry.ask(method, f"/api/v1/{route}", self.quarry.token, sent)

    @property
    def _agent(self) -> Agent:
        url = f"http://localhost:{self.quarry.port}"
        return Agent(url, self.quarry.token, era="2026-07-28")


@dataclass
class Product(Quarry):
    """`manage.py up` as it comes: with no key, its own embedder and its own ears."""

    may_fetch: str = ""

    def __post_init__(self) -> None:
        own = {"QUARRY_EMBEDDER": "", "QUARRY_ALLOWED_PRIVATE_HOSTS": self.may_fetch}
        self.settings = own | self.settings
        super().__post_init__()
