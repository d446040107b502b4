from collections.abc import Iterator
from threading import Event

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_httpserver import HTTPServer
from werkzeug import Response

from knowledge.errors import ProviderUnavailable
from knowledge.providers import embedder_named
from knowledge.providers.openai_api import OpenAIServer
from knowledge.providers.openai_embeddings import OpenAIEmbedder
from tests.support.wire.openai import (
    DIMENSIONS,
    OpenAI,
    ollama_missing,
    openai_error,
    tei_error,
    vectors,
)


@pytest.fixture
def vendor(httpserver: HTTPServer) -> Iterator[OpenAI]:
    yield OpenAI(httpserver)
    httpserver.check_assertions()


def embedder_of(vendor: OpenAI, model: str = "bge-m3", **options) -> OpenAIEmbedder:
    return OpenAIEmbedder(vendor.server_of(model), sleep=vendor.waits.append, **options)


def test_texts_come_back_as_vectors_of_unit_length_in_their_order(vendor):
    rows = 3 * vendor.meaning.embed_document(["one", "two"])
    vendor.answers = {"embeddings": [vectors(rows, order=[1, 0])]}

    found = embedder_of(vendor).embed_document(["one", "two"])

    assert np.allclose(found, rows / 3, atol=1e-6)
    assert vendor.requests[0]["input"] == ["one", "two"]
    assert vendor.requests[0]["encoding_format"] == "float"
    assert "dimensions" not in vendor.requests[0]
    assert vendor.keys == ["Bearer secret"]


def test_no_text_is_no_request(vendor):
    assert embedder_of(vendor).embed_document([]).shape == (0, DIMENSIONS)
    assert not [request for request in vendor.requests if request["input"] == []]


def test_what_the_makers_want_before_a_text_is_put_there(vendor):
    embedder = embedder_of(vendor, "nomic-embed-text:v1.5")

    embedder.embed_document(["Granite."])
    embedder.embed_query("What is hard?")

    assert [request["input"] for request in vendor.requests] == [
        ["search_document: Granite."],
        ["search_query: What is hard?"],
    ]
    assert embedder.languages == frozenset({"en"})


def test_dimensions_and_background_are_measured_by_asking(vendor):
    embedder = embedder_of(vendor)

    assert embedder.dimensions == DIMENSIONS
    assert 0 <= embedder.background < 0.3
    assert len(vendor.requests) == 13  # twelve answers at once, and twelve questions; only once


def test_shorter_vectors_are_asked_for_and_any_other_is_refused(vendor):
    shorter = embedder_of(vendor, dimensions=DIMENSIONS)
    assert shorter.embed_query("granite").shape == (DIMENSIONS,)
    assert vendor.requests[0]["dimensions"] == DIMENSIONS

    with pytest.raises(ProviderUnavailable, match="asked for 16 dimensions and answered 24"):
        embedder_of(vendor, dimensions=16).embed_query("granite")


def test_a_batch_that_is_too_large_is_halved_and_the_next_are_as_small(vendor):
    vendor.most_texts = 8

    found = embedder_of(vendor).embed_document([f"text {n}" for n in range(40)])

    assert found.shape == (40, DIMENSIONS)
    sizes = [len(request["input"]) for request in vendor.requests]
    assert sizes == [32, 16, 8, 8, 16, 8, 8, 8]


def test_a_text_that_is_too_long_is_cut(vendor):
    words = "the input length exceeds the context length"
    vendor.answers = {"embeddings": [openai_error(400, words)]}

    assert embedder_of(vendor).embed_document(["granite " * 400]).shape == (1, DIMENSIONS)
    assert [len(request["input"][0]) for request in vendor.requests] == [3200, 1600]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda rows: vectors(rows[:1]), "1 vectors for 2 texts"),
        (lambda rows: Response('{"object": "list", "data": [{"ind'), "not JSON"),
        (lambda rows: Response("[]"), "no object"),
        (lambda rows: Response('{"data": [{"index": 0}]}'), "no list of vectors"),
        (lambda rows: vectors([rows[0], rows[1][:3]]), "no list of vectors"),
        (lambda rows: vectors([rows[0], np.full(DIMENSIONS, np.nan)]), "no direction"),
        (lambda rows: vectors([rows[0], np.zeros(DIMENSIONS)]), "no direction"),
    ],
)
def test_half_an_answer_is_asked_for_again_and_nothing_of_it_used(vendor, answer, said):
    rows = vendor.meaning.embed_document(["one", "two"])
    vendor.answers = {"embeddings": [answer(rows)]}
    assert np.allclose(embedder_of(vendor).embed_document(["one", "two"]), rows, atol=1e-6)

    vendor.answers = {"embeddings": [answer(rows) for _ in range(5)]}
    with pytest.raises(ProviderUnavailable, match=said) as failure:
        embedder_of(vendor).embed_document(["one", "two"])
    assert failure.value.details["may_pass"] is True


def test_a_rate_limit_is_waited_out_for_as_long_as_was_asked(vendor):
    limits = [openai_error(429, "Rate limit reached", **{"Retry-After": "7"}) for _ in range(2)]
    vendor.answers = {"embeddings": limits}

    assert len(embedder_of(vendor).embed_document(["one"])) == 1
    assert vendor.waits == [7, 7]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ollama_missing("bge-m3"), "no model bge-m3.*try pulling it first"),
        (openai_error(401, "Incorrect API key provided: secret"), "QUARRY_EMBEDDER_KEY"),
        (openai_error(429, "You exceeded", code="insufficient_quota"), "used up"),
        (openai_error(400, "This model does not support dimensions"), "refused the request"),
        (openai_error(307, "elsewhere", Location="http://127.0.0.1:1/"), "refused the request"),
    ],
)
def test_what_no_retry_would_change_is_told_at_once(vendor, answer, said):
    vendor.answers = {"embeddings": [answer]}

    with pytest.raises(ProviderUnavailable, match=said) as failure:
        embedder_of(vendor).embed_document(["one"])

    assert "secret" not in failure.value.message
    assert failure.value.details["may_pass"] is False
    assert (len(vendor.requests), vendor.waits) == (1, [])


@pytest.mark.parametrize("answer", [openai_error(500, "oops"), tei_error(424, "Backend error")])
def test_a_server_that_fails_is_asked_again_for_documents_and_not_for_a_question(vendor, answer):
    vendor.answers = {"embeddings": [answer]}
    assert len(embedder_of(vendor).embed_document(["one"])) == 1

    vendor.answers = {"embeddings": [answer]}
    with pytest.raises(ProviderUnavailable, match="failed"):
        embedder_of(vendor).embed_query("one")


def test_a_slow_server_is_given_up(vendor):
    vendor.held = Event()
    with pytest.raises(ProviderUnavailable, match=r"within 0.05 seconds") as failure:
        vendor.server_of().ask("/embeddings", seconds=0.05, json={"input": ["one"]})
    vendor.held.set()
    assert failure.value.details["may_pass"] is True


def test_a_server_that_is_not_there_is_named_without_its_password():
    server = OpenAIServer(url="http://user:hidden@127.0.0.1:9/v1", key="k3y", model="m")

    with pytest.raises(ProviderUnavailable, match=r"127\.0\.0\.1:9 did not answer") as failure:
        server.ask("/embeddings", seconds=2.0, json={})

    assert "hidden" not in failure.value.message + repr(failure.value.details)
    assert "k3y" not in repr(server)


def test_a_key_that_no_header_can_carry_is_not_sent_and_not_shown(vendor):
    server = OpenAIServer(url=vendor.url, key="s3\ncret", model="m", job="EMBEDDER")
    with pytest.raises(ProviderUnavailable, match="QUARRY_EMBEDDER_KEY") as failure:
        server.ask("/embeddings", seconds=2.0, json={})
    assert "cret" not in failure.value.message + repr(failure.value.__context__)
    assert not vendor.requests


def test_no_log_has_an_address_with_its_password(vendor, caplog):
    url = vendor.url.replace("//", "//user:hidden@")
    server = OpenAIServer(url=url, key="k3y", model="bge-m3")
    with caplog.at_level("DEBUG"):
        server.ask("/embeddings", seconds=5.0, json={"model": "bge-m3", "input": ["one"]})
    assert "hidden" not in caplog.text
    assert "k3y" not in caplog.text


@pytest.fixture
def no_servers(settings):
    for job in ("OPENAI", "EMBEDDER", "SUMMARIZER", "ANSWERER", "TRANSCRIBER"):
        setattr(settings, f"QUARRY_{job}_URL", "")
        setattr(settings, f"QUARRY_{job}_KEY", "")
    return settings


def made(name: str) -> OpenAIServer:
    from knowledge import providers

    providers._load_embedder.cache_clear()
    embedder = embedder_named(name)
    assert isinstance(embedder, OpenAIEmbedder)
    return embedder._server


def test_a_server_is_found_by_the_settings_of_its_job_or_of_all(no_servers):
    no_servers.QUARRY_OPENAI_KEY = "shared"
    assert made("openai:m").url == "https://api.openai.com/v1"
    no_servers.QUARRY_OPENAI_URL = "http://gpu:11434"
    assert (made("openai:m").url, made("openai:m").key) == ("http://gpu:11434/v1", "shared")
    no_servers.QUARRY_EMBEDDER_URL = "http://tei:8080/v1/"
    assert (made("openai:m").url, made("openai:m").key) == ("http://tei:8080/v1", "")
    no_servers.QUARRY_EMBEDDER_KEY = "own"
    assert made("openai:qwen3-embedding:8b@1024").model == "qwen3-embedding:8b"
    assert made("openai:m").key == "own"


@pytest.mark.parametrize(
    ("name", "url", "said"),
    [
        ("openai", "http://gpu", "names no model"),
        ("openai:m", "", "needs an address"),
        ("openai:m", "gpu:11434", "no address of a server"),
        ("openai:m", "ftp://gpu/v1", "no address of a server"),
        ("openai:" + 100 * "m", "http://gpu", "too long"),
        ("voyage:voyage-3", "http://gpu", "not one of Voyage's contextual models"),
        ("word2vec:m", "http://gpu", "There is no embedder"),
    ],
)
def test_a_choice_that_cannot_work_is_refused_with_what_to_set(no_servers, name, url, said):
    no_servers.QUARRY_OPENAI_URL = url
    with pytest.raises(ImproperlyConfigured, match=said):
        made(name)


def test_a_text_with_half_a_letter_is_embedded_too(vendor):
    assert len(embedder_of(vendor).embed_document(["lone \ud800 surrogate"])) == 1
    assert vendor.requests[0]["input"] == ["lone ? surrogate"]
