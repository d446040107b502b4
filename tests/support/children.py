"""Readers in this process: a child takes half a second to start."""

from typing import Any

import pytest

from knowledge.errors import IngestFailed
from knowledge.imports import batches
from knowledge.sources import feeds, files, podcast, webpage
from knowledge.sources.parsers.__main__ import _answer
from knowledge.text.languages import language_of


def read_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    language_of("Loads its model before the page reader, in its own process, keeps it out.")

    def run_here(target: str, request: dict[str, Any], **_: Any) -> Any:
        answer = _answer(target, request)
        if refused := answer.get("refused"):
            raise IngestFailed(refused["message"], **refused["details"])
        return answer["given"]

    for module in (webpage, files, feeds, podcast, batches):
        monkeypatch.setattr(module, "run_in_child", run_here)
