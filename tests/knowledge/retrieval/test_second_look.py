"""Reranking: the best candidates change places, and a reranker that fails costs only its budget."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from knowledge import providers
from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.providers.onnx_rerank import OnnxReranker
from knowledge.providers.voyage_rerank import VoyageReranker
from tests.support.cross_encoders import WORD, write_cross_encoder
from tests.support.library import Add
from tests.support.searching import search
from tests.support.wire.openai import as_json


class Backwards:
    """Thinks that the last candidate is the best."""

    name, usual_sec = "backwards", 5.0

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.failure: Exception | None = None
        self.held: Event | None = None

    def relevance(self, question: str, texts: Sequence[str], *, seconds: float) -> list[float]:
        if self.held:
            self.held.wait(20)
        if self.failure:
            raise self.failure
        self.asked.append(list(texts))
        return [float(at) for at in range(len(texts))]


@pytest.fixture
def reranker(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Backwards]:
    one = Backwards()
    settings.QUARRY_RERANKER = "backwards"
    monkeypatch.setitem(providers._RERANKERS, "backwards", lambda: one)
    providers._load_reranker.cache_clear()
    yield one
    providers._load_reranker.cache_clear()


@pytest.fixture
def stones(add: Add) -> list[str]:
    """Titles, the best answer to "granite harbour" first."""
    add("Harbour", "The granite harbour")
    add("Quarry", "A granite quarry beside many other places of which nobody has heard")
    add("Chalk", "Chalk, and far down in it one piece of granite, and then only chalk and flint")
    return ["Harbour", "Quarry", "Chalk"]


def titles(answer) -> list[str]:
    return [hit.item.title for hit in answer.hits]


def test_the_first_candidates_change_places_and_scores_still_fall(
    library: Access, stones: list[str], reranker: Backwards, settings: Settings
) -> None:
    settings.QUARRY_RERANKER = ""
    before = search(library, query="granite harbour")
    assert titles(before)[0] == "Harbour"
    settings.QUARRY_RERANKER = "backwards"

    after = search(library, query="granite harbour")

    assert titles(after) == titles(before)[::-1]
    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]
    assert after.degraded is None
    assert reranker.asked[0][0].startswith("Harbour\nThe granite harbour")
    first, second = (
        search(library, query="granite harbour", limit=1, offset=offset) for offset in (0, 1)
    )
    assert [*titles(first), *titles(second)] == titles(after)[:2]


def test_beyond_the_candidates_the_first_ranking_stands(
    library: Access, stones: list[str], reranker: Backwards, settings: Settings
) -> None:
    settings.QUARRY_RERANK_CANDIDATES = 2
    found = titles(search(library, query="granite harbour"))
    assert found[2:] == ["Chalk"]
    assert found[:2] == ["Quarry", "Harbour"]


@pytest.mark.parametrize("asked", [{"mode": "keyword"}, {"query": '"granite harbour" chalk'}])
def test_an_order_that_was_asked_for_is_not_changed(
    library: Access, stones: list[str], reranker: Backwards, asked: dict[str, str]
) -> None:
    assert titles(search(library, **{"query": "granite harbour"} | asked))[0] == "Harbour"
    assert reranker.asked == []


def test_a_reranker_that_hangs_or_fails_costs_its_budget_and_a_note(
    library: Access, stones: list[str], reranker: Backwards, settings: Settings
) -> None:
    reranker.failure = ProviderUnavailable("It is away.")
    failed = search(library, query="granite harbour")
    assert (titles(failed)[0], failed.degraded) == ("Harbour", "Not reranked: It is away.")

    reranker.failure, reranker.held = None, Event()
    settings.QUARRY_RERANK_MS = 40
    slow = search(library, query="granite harbour")
    reranker.held.set()
    assert titles(slow)[0] == "Harbour"
    assert slow.degraded == "Not reranked: The reranker backwards took longer than 40 ms."


# Voyage ---------------------------------------------------------------------------------------


@pytest.fixture
def voyage(httpserver: HTTPServer) -> VoyageReranker:
    return VoyageReranker("secret", base_url=httpserver.url_for("/v1/"))


def test_voyage_judges_each_text(httpserver: HTTPServer, voyage: VoyageReranker) -> None:
    def answer(request: Request) -> Response:
        body = request.get_json()
        assert (body["model"], body["query"]) == ("rerank-2.5", "granite")
        assert request.headers["Authorization"] == "Bearer secret"
        rows = [
            {"index": at, "relevance_score": 0.9 if "granite" in text else 0.1}
            for at, text in enumerate(body["documents"])
        ]
        return as_json({"object": "list", "data": rows[::-1], "usage": {"total_tokens": 9}})

    httpserver.expect_request("/v1/rerank", method="POST").respond_with_handler(answer)
    assert voyage.relevance("granite", ["chalk", "granite"], seconds=5) == [0.1, 0.9]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (as_json({"detail": "no"}, 401), "VOYAGE_API_KEY"),
        (as_json({"detail": "no"}, 429), "limiting our rate"),
        (as_json({"data": [{"index": 0, "relevance_score": 1.0}]}), "cannot be used"),
        (as_json({"data": "?"}), "cannot be used"),
    ],
)
def test_what_voyage_cannot_judge_is_one_of_our_errors(
    httpserver: HTTPServer, voyage: VoyageReranker, answer: Response, said: str
) -> None:
    httpserver.expect_request("/v1/rerank").respond_with_response(answer)
    with pytest.raises(ProviderUnavailable, match=said):
        voyage.relevance("granite", ["chalk", "granite"], seconds=5)


# A cross-encoder of one's own -----------------------------------------------------------------


def test_a_cross_encoder_of_a_folder_judges_in_a_process_of_its_own(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_cross_encoder(tmp_path / "tiny"))
    try:
        reranker.load()
        texts = ["chalk", f"{WORD} and {WORD}", f"one {WORD} and \ud800"]
        scores = reranker.relevance("What is hard?", texts, seconds=30)
    finally:
        reranker.close()
    assert sorted(range(3), key=lambda at: -scores[at]) == [1, 2, 0]
    assert all(0 <= score <= 1 for score in scores)


def test_a_cross_encoder_that_never_ends_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.providers.onnx_rerank.LOADING_SEC", 0.5)
    reranker = OnnxReranker(write_cross_encoder(tmp_path / "endless", is_endless=True))
    try:
        with pytest.raises(ProviderUnavailable, match="being loaded"):
            reranker.relevance("What is hard?", ["chalk"], seconds=0.1)
        reranker.load()
        reranker._is_ready = True
        with pytest.raises(ProviderUnavailable, match=r"within 0\.3 seconds"):
            reranker.relevance("What is hard?", ["chalk"], seconds=0.3)
        assert not reranker._is_ready
    finally:
        reranker.close()


def test_a_folder_that_holds_no_cross_encoder_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"tokenizer\.json and model\.onnx"):
        OnnxReranker(tmp_path)
