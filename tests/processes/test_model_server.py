"""A whole Quarry on a model server that has its bad moments: the walk of docs/models."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.cross_encoders import write_cross_encoder
from tests.support.quarry import Server, up
from tests.support.recordings import speech, written
from tests.support.up import copied_home
from tests.support.waiting import DEADLINE, eventually
from tests.support.wire.openai import OpenAI, completion, openai_error, vectors

MODEL = "openai:bge-m3"
NOTES = 70
LOADING = "Not reranked: The reranker tiny is being loaded, or cannot be: see the log."


class Moody(OpenAI):
    """Fails at texts of the library as often as it is told to."""

    outages: tuple[Response, ...] = ()

    def _embed(self, request: Request) -> Response:
        if self.outages and "harbour" in request.get_data(as_text=True):
            outage, self.outages = self.outages[0], self.outages[1:]
            return outage
        return super()._embed(request)


@pytest.fixture
def vendor() -> Iterator[Moody]:
    with HTTPServer(threaded=True) as server:
        yield Moody(server)


@pytest.fixture
def quarry(vendor: Moody, migrated_home: Path, tmp_path: Path) -> Iterator[Server]:
    settings = {"QUARRY_OPENAI_URL": vendor.url, "QUARRY_TRANSCRIBER": "openai:whisper-1"}
    settings["QUARRY_RERANKER"] = f"onnx:{write_cross_encoder(tmp_path / 'tiny')}"
    settings["QUARRY_RERANK_MS"] = str(int(1000 * DEADLINE))
    settings |= {f"QUARRY_{job}": "openai:llama3.2" for job in ("SUMMARIZER", "ANSWERER")}
    with copied_home(migrated_home) as home, up(home, "127.0.0.1", **settings) as server:
        yield server
        assert "Traceback" not in server.complained


def test_a_library_moves_to_a_model_server_and_is_summed_up_asked_and_added_to_there(
    quarry: Server, vendor: Moody, tmp_path: Path
) -> None:
    texts = [f"Granite number {number} lies in the harbour." for number in range(NOTES)]
    entries = [{"kind": "text", "title": text[:17], "text": text} for text in texts]
    quarry.rest("POST", "ingest/batch", entries=entries)
    assert f"{NOTES} chunks" in quarry.run("reindex", "--embedder", MODEL, "--estimate")

    half = Response('{"object": "list", "data": [{"ob', content_type="application/json")
    vendor.outages += (openai_error(429, "Slow down.", **{"Retry-After": "0"}), half)
    with searches(quarry) as answers:
        assert "Searches use" in quarry.run("reindex", "--embedder", MODEL)
    assert not vendor.outages
    assert {(status, len(found["results"])) for status, found in answers} == {(200, 8)}
    assert {found.get("degraded") for _, found in answers} <= {None, LOADING}
    eventually(lambda: not quarry.rest("POST", "search", query="granite").get("degraded"))
    assert is_whole(quarry)

    vendor.answers = {"embeddings": [vectors([[1.0] * 9])] * 12}  # it lies about its dimension
    added = quarry.rest("POST", "ingest", kind="text", title="Roof", text="The zinc roof leaks.")
    found = quarry.rest("POST", "search", query="zinc roof")
    assert found["results"][0]["user_item_id"] == added["user_item_id"]
    assert "answers 9" in found["degraded"]
    vendor.answers = {}
    quarry.run("reindex")
    assert is_whole(quarry)
    assert quarry.rest("POST", "search", query="zinc", mode="semantic")["results"]

    item = f"items/{added['user_item_id']}"
    quarry.rest("POST", f"{item}/transform")
    quarry.wait_for_jobs()
    assert quarry.rest("GET", item)["transform"]["tldr"] == "Granite is hard."
    vendor.answers = {"chat": [completion("Zinc leaks [1.1]. It floats [9.9].")]}
    answer = ask(quarry, "Does the zinc roof leak?")
    assert "Zinc leaks" in answer
    assert "floats" not in answer

    vendor.speech = [{"start": 1.0, "end": 2.0, "text": "Kreide ist weich."}]
    quarry.run("add", str(written(tmp_path / "talk.mp3", speech())), "--wait")
    heard = quarry.rest("POST", "search", query="Kreide")
    assert "Kreide ist weich." in heard["results"][0]["passage"]

    told = {each["about"]: each for each in json.loads(quarry.run("doctor", "--json"))}
    assert {told[job]["state"] for job in ("summaries", "answers", "transcriber")} == {"ok"}
    figures = r"24 dimensions; price not .*; answered in .* ms; .* chunks/s; errors in the last day"
    assert re.search(figures, told["embedder"]["seen"])


@contextmanager
def searches(quarry: Server) -> Iterator[list[tuple[int, Any]]]:
    """The answers to a question that is asked again and again for as long as this lasts."""
    answers: list[tuple[int, Any]] = []
    ended = Event()
    question = json.dumps({"query": "granite in the harbour"})

    def search() -> None:
        while not ended.wait(0.05):
            answers.append(quarry.ask("POST", "/api/v1/search", quarry.token, question))

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(search)
        try:
            yield answers
        finally:
            ended.set()
            asking.result()


def ask(quarry: Server, question: str) -> str:
    """The stream that a signed-in person's browser is sent."""
    with quarry.signed_in() as session:
        answer = session.post(
            f"{quarry.url}/ask/",
            {"question": question, "csrfmiddlewaretoken": str(session.cookies["csrftoken"])},
            headers={"Accept": "text/event-stream"},
            timeout=DEADLINE,
        )
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    return answer.text


def is_whole(quarry: Server) -> bool:
    """Whether every item is found by meaning."""
    with quarry.database() as database:
        waiting = "SELECT 1 FROM knowledge_item WHERE index_status <> 'done' LIMIT 1"
        return database.execute(waiting).fetchone() is None
