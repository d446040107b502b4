"""How many modules an addition passes through, from the edge's function to the item's row.

Counted are the edge's own module and those of `knowledge/ingest`, in the order in which they run;
to come back to one counts again. What other rooms answer (a checked text, a page, pieces) is not.
"""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.api.items import IngestView
from knowledge.models import Folder, Item
from knowledge.models.prepared import insert_rows
from mcp_gateway.tools.library import add_to_knowledge
from tests.support.adding import serve_recording
from tests.support.library import LONG_ENOUGH, Mint, Minted
from tests.support.pages import ARTICLE, serve_page

TEXT = ["adding", "items"]
LINK = ["adding", "contents", "adding", "items"]

Passed = Callable[..., list[str]]


class Walk:
    """The modules that are passed through from one function on, until an item is written."""

    def __init__(self, start: CodeType) -> None:
        self.start = start
        self.stops: list[str] = []
        self.has_arrived = False

    def profile(self, frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            writes_items = frame.f_code is insert_rows.__code__
            self.has_arrived |= writes_items and isinstance(frame.f_locals["rows"][0], Item)
            self._stop_at(frame)
        elif event == "return" and frame.f_code is not self.start and frame.f_back:
            self._stop_at(frame.f_back)

    def _stop_at(self, frame: FrameType) -> None:
        module = frame.f_globals.get("__name__", "")
        if not self.stops and frame.f_code is self.start:
            self.stops = [module]
        # The __init__ of a dataclass runs in the module of its class, and has no file.
        is_ours = module.startswith("knowledge.ingest.") and Path(frame.f_code.co_filename).exists()
        if not self.stops or self.has_arrived or not (is_ours or module == self.stops[0]):
            return
        if self.stops[-1] != module:
            self.stops.append(module)


def over_rest(token: Minted, **asked: Any) -> list[str]:
    walk = Walk(IngestView.post.__code__)
    with _walking(walk):
        answer = token.client.post("/api/v1/ingest", asked, format="json")
    assert answer.status_code == 201, answer.json()
    return _names(walk)


def over_mcp(token: Minted, **asked: Any) -> list[str]:
    walk = Walk(add_to_knowledge.__code__)
    with _walking(walk):
        add_to_knowledge(token.access, **asked)
    return _names(walk)


def _walking(walk: Walk) -> ExitStack:
    stack = ExitStack()
    stack.callback(sys.setprofile, sys.getprofile())
    sys.setprofile(walk.profile)
    return stack


def _names(walk: Walk) -> list[str]:
    assert walk.has_arrived
    assert walk.stops[0] in ("knowledge.api.items", "mcp_gateway.tools.library")
    return [module.removeprefix("knowledge.ingest.") for module in walk.stops[1:]]


@pytest.fixture(params=[over_rest, over_mcp], ids=["rest", "mcp"])
def passed(request: pytest.FixtureRequest, settings: Settings, tmp_path: Path) -> Passed:
    settings.QUARRY_HOME = tmp_path
    passed: Passed = request.param
    return passed


def test_a_text_makes_three_stops(
    passed: Passed, mint: Mint, folder: Callable[[str], Folder]
) -> None:
    asked = {"kind": "text", "title": "Granite", "text": LONG_ENOUGH}
    assert passed(mint(), **asked) == TEXT
    assert passed(mint(), **asked, folder_id=str(folder("Shelf").pk)) == TEXT


def test_a_link_makes_five_stops(
    passed: Passed, mint: Mint, stranger: User, site: HTTPServer
) -> None:
    page = serve_page(site, "/rivers", ARTICLE)
    assert passed(mint(), kind="url", url=page) == LINK
    assert passed(mint(by=stranger), kind="url", url=page) == LINK


def test_a_recording_makes_five_stops(passed: Passed, mint: Mint, site: HTTPServer) -> None:
    assert passed(mint(), kind="url", url=serve_recording(site)) == LINK
