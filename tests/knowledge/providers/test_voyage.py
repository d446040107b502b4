import base64
import json
import sys
from collections.abc import Iterator
from socket import socket
from subprocess import run
from threading import Event
from typing import Any

import numpy as np
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from knowledge.errors import ProviderUnavailable
from knowledge.providers.fake import FakeEmbedder
from knowledge.providers.voyage import GROUP_TOKENS, QUERY_ATTEMPTS, VoyageEmbedder
from tests.support.waiting import eventually

DIMENSIONS = 16
PATH = "/v1/contextualizedembeddings"
meaning = FakeEmbedder(DIMENSIONS)


class Voyage:
    """A local server that speaks Voyage's wire format."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.requests: list[dict[str, Any]] = []
        self.waits: list[float] = []
        self.failures: list[Response] = []
        self.embedder = self.embedder_with()
        server.expect_request(PATH, method="POST").respond_with_handler(self.answer)

    def embedder_with(
        self, *, api_key: str = "secret", timeout: float = 5.0, **options: Any
    ) -> VoyageEmbedder:
        return VoyageEmbedder(
            api_key,
            base_url=self.server.url_for("/v1/"),
            timeout=timeout,
            dimensions=DIMENSIONS,
            sleep=self.waits.append,
            **options,
        )

    def answer(self, request: Request) -> Response:
        if self.failures:
            return self.failures.pop(0)
        body = request.get_json()
        self.requests.append(body | {"authorization": request.headers["Authorization"]})
        return answer_with([encoded(vector) for vector in meaning.embed_document(*body["inputs"])])

    def sent_texts(self) -> list[list[str]]:
        return [texts for request in self.requests for texts in request["inputs"]]


def encoded(vector) -> str:
    return base64.b64encode(np.asarray(vector, np.float32).tobytes()).decode()


def answer_with(embeddings, *, order=None) -> Response:
    rows = [
        {"object": "embedding", "embedding": embedding, "index": index}
        for index, embedding in enumerate(embeddings)
    ]
    group = {"object": "list", "data": [rows[at] for at in order or range(len(rows))], "index": 0}
    answer = {"object": "list", "data": [group], "usage": {"total_tokens": 7}}
    return Response(json.dumps(answer), content_type="application/json")


def failure(status: int, **headers: str) -> Response:
    body = json.dumps({"detail": "the vendor's own words"})
    return Response(body, status, headers, content_type="application/json")


@pytest.fixture
def voyage(httpserver: HTTPServer) -> Iterator[Voyage]:
    yield Voyage(httpserver)
    httpserver.check_assertions()


def test_the_chunks_of_a_document_are_embedded_together(voyage):
    chunks = ["granite is hard", "marble is soft", "slate splits"]

    vectors = voyage.embedder.embed_document(chunks)

    assert np.allclose(vectors, meaning.embed_document(chunks), atol=1e-6)
    assert vectors.dtype == np.float32
    assert voyage.requests == [
        {
            "inputs": [chunks],
            "model": "voyage-context-3",
            "input_type": "document",
            "output_dimension": DIMENSIONS,
            "encoding_format": "base64",
            "authorization": "Bearer secret",
        }
    ]


def test_a_query_is_embedded_as_a_query(voyage):
    vector = voyage.embedder.embed_query("what is hard?")

    assert np.allclose(vector, meaning.embed_query("what is hard?"), atol=1e-6)
    assert voyage.requests[0]["input_type"] == "query"


def test_the_newer_model_is_asked_alike_under_its_own_name(voyage):
    newer = voyage.embedder_with(model="voyage-context-4")
    assert newer.embed_document(["one", "two"]).shape == (2, DIMENSIONS)
    [request] = voyage.requests
    assert (newer.name, request["model"]) == ("voyage-context-4", "voyage-context-4")
    assert request["inputs"] == [["one", "two"]]


def test_a_document_without_chunks_asks_nothing(voyage):
    assert voyage.embedder.embed_document([]).shape == (0, DIMENSIONS)
    assert voyage.requests == []


def test_a_long_document_is_sent_in_even_groups_within_the_limit(voyage):
    chunks = [f"chunk {number} " + "stone " * 180 for number in range(400)]

    vectors = voyage.embedder.embed_document(chunks)

    groups = voyage.sent_texts()
    assert [text for group in groups for text in group] == chunks
    assert np.allclose(vectors, meaning.embed_document(chunks), atol=1e-6)
    assert max(len(" ".join(group).split()) for group in groups) < GROUP_TOKENS
    assert max(map(len, groups)) - min(map(len, groups)) <= len(groups)
    assert len(groups) > 1


def test_many_tiny_chunks_are_sent_a_thousand_at_a_time(voyage):
    voyage.embedder.embed_document(["x"] * 2_500)

    assert [len(group) for group in voyage.sent_texts()] == [1000, 1000, 500]


def test_a_group_that_voyage_finds_too_large_is_halved(voyage):
    voyage.failures = [failure(400), failure(400)]

    vectors = voyage.embedder.embed_document(["a b", "c d", "e f", "g h"])

    assert voyage.sent_texts() == [["a b"], ["c d"], ["e f", "g h"]]
    assert np.allclose(vectors, meaning.embed_document(["a b", "c d", "e f", "g h"]), atol=1e-6)


def test_vectors_are_matched_to_their_texts_by_index(voyage):
    texts = ["granite", "marble", "slate"]
    rows = [encoded(vector) for vector in meaning.embed_document(texts)]
    voyage.failures = [answer_with(rows, order=[2, 0, 1])]

    assert np.allclose(voyage.embedder.embed_document(texts), meaning.embed_document(texts))


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_passing_failure_is_retried_with_growing_waits(voyage, status):
    voyage.failures = [failure(status), failure(status), failure(status)]

    assert voyage.embedder.embed_document(["text"]).shape == (1, DIMENSIONS)
    assert len(voyage.waits) == 3
    assert voyage.waits == sorted(voyage.waits)
    assert 1 <= voyage.waits[0] <= 1.5


def test_the_wait_that_voyage_asks_for_is_kept(voyage):
    voyage.failures = [failure(429, **{"Retry-After": "12"}), failure(429, **{"Retry-After": "x"})]

    voyage.embedder.embed_document(["text"])

    assert voyage.waits[0] == 12
    assert voyage.waits[1] <= 3


def test_a_lasting_failure_ends_after_five_attempts(voyage):
    voyage.failures = [failure(429) for _ in range(6)]

    with pytest.raises(ProviderUnavailable, match="limiting our rate") as caught:
        voyage.embedder.embed_document(["text"])

    assert caught.value.details["retryable"] is True
    assert len(voyage.failures) == 1


def test_a_query_gives_up_after_two_attempts(voyage):
    voyage.failures = [failure(503), failure(503), failure(503)]

    with pytest.raises(ProviderUnavailable) as caught:
        voyage.embedder.embed_query("text")

    assert caught.value.details["retryable"] is True
    assert len(voyage.failures) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_its_setting_and_is_not_tried_again(voyage, status):
    voyage.failures = [failure(status), failure(status)]

    with pytest.raises(ProviderUnavailable, match="VOYAGE_API_KEY") as caught:
        voyage.embedder.embed_document(["text"])

    assert caught.value.details == {"retryable": False, "setting": "VOYAGE_API_KEY"}
    assert len(voyage.failures) == 1


def test_a_missing_key_is_told_without_a_call(voyage, monkeypatch):
    monkeypatch.setenv("VOYAGE_API_KEY", "from-the-environment")

    with pytest.raises(ProviderUnavailable, match="VOYAGE_API_KEY"):
        voyage.embedder_with(api_key="").embed_query("text")

    assert voyage.requests == []


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_refused_request_is_not_tried_again(voyage, status):
    voyage.failures = [failure(status), failure(status)]

    with pytest.raises(ProviderUnavailable, match="refused the request") as caught:
        voyage.embedder.embed_query("text")

    assert caught.value.details["retryable"] is False
    assert len(voyage.failures) == 1
    assert voyage.waits == []


def test_an_answer_that_does_not_come_in_time_is_a_retryable_failure(httpserver):
    release = Event()
    httpserver.expect_request(PATH).respond_with_handler(lambda _: release.wait() and failure(500))
    embedder = Voyage(httpserver).embedder_with(timeout=0.1)

    with pytest.raises(ProviderUnavailable, match="did not answer") as caught:
        embedder.embed_query("text")
    release.set()

    assert caught.value.details["retryable"] is True
    # Both tries, or the second would be answered within the next test.
    eventually(lambda: len(httpserver.log) == QUERY_ATTEMPTS)


def test_a_server_that_is_not_there_is_a_retryable_failure(voyage):
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{silent.getsockname()[1]}"
        embedder = VoyageEmbedder("secret", base_url=nowhere, sleep=voyage.waits.append)

        with pytest.raises(ProviderUnavailable, match="did not answer") as caught:
            embedder.embed_query("text")

    assert caught.value.details["retryable"] is True
    assert len(voyage.waits) == 1


UNIT = [1.0, *[0.0] * (DIMENSIONS - 1)]
UNUSABLE = {
    "not JSON": Response("<html>", content_type="text/html"),
    "plain text": Response("hello", content_type="text/plain"),
    "not UTF-8": Response(b"\xff\xfe", content_type="application/json"),
    "no data": Response("{}", content_type="application/json"),
    "null": Response("null", content_type="application/json"),
    "a list": Response("[]", content_type="application/json"),
    "empty data": Response('{"data": []}', content_type="application/json"),
    "no content": Response("", 204),
    "too few vectors": answer_with([encoded(UNIT)]),
    "too many vectors": answer_with([encoded(UNIT)] * 3),
    "the same index twice": answer_with([encoded(UNIT)] * 2, order=[0, 0]),
    "too short vectors": answer_with([encoded(UNIT[:8])] * 2),
    "vectors of two lengths": answer_with([UNIT, UNIT[:8]]),
    "bad base64": answer_with(["A", "B"]),
    "half a float": answer_with(["AAA=", "AAA="]),
    "no vector": answer_with([None, None]),
    "words for numbers": answer_with([["x"] * DIMENSIONS] * 2),
    "NaN": answer_with([encoded([np.nan] * DIMENSIONS)] * 2),
    "infinity": answer_with([encoded([np.inf] * DIMENSIONS)] * 2),
    "zeros": answer_with([encoded([0] * DIMENSIONS)] * 2),
    "not of unit length": answer_with([encoded([1] * DIMENSIONS)] * 2),
}


@pytest.mark.parametrize("answer", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_answer_that_cannot_be_used_is_told_at_once(voyage, answer):
    voyage.failures = [answer, answer]

    with pytest.raises(ProviderUnavailable, match="cannot be used") as caught:
        voyage.embedder.embed_document(["one", "two"])

    assert caught.value.details["retryable"] is False
    assert len(voyage.failures) == 1


def test_an_error_shows_neither_the_key_nor_the_vendors_words(voyage):
    voyage.failures = [failure(400)]

    with pytest.raises(ProviderUnavailable) as caught:
        voyage.embedder.embed_query("text")

    told = f"{caught.value.message} {caught.value.details}"
    assert "secret" not in told
    assert "own words" not in told


def test_the_vendors_package_is_loaded_only_when_it_is_needed():
    script = "import sys, knowledge.providers.voyage; sys.exit('voyageai' in sys.modules)"

    assert run([sys.executable, "-c", script]).returncode == 0
