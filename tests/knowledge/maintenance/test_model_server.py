"""A library run on one model server: embedded, changed over, summed up, asked, transcribed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from werkzeug import Response

from knowledge import providers
from knowledge.access import Access
from knowledge.asking.answering import answer_question
from knowledge.errors import ProviderUnavailable
from knowledge.indexing import generations
from knowledge.ingest.transforms import transform_item
from knowledge.library import items as shelves
from knowledge.maintenance import building
from knowledge.models import Chunk, ChunkEmbedding, Generation, Transform
from tests.support.adding import add_link, run_jobs, serve_recording
from tests.support.index import fill
from tests.support.library import Add
from tests.support.searching import search
from tests.support.wire.openai import OpenAI, completion, ollama_missing, openai_error, vectors

MODEL = "openai:bge-m3"


@pytest.fixture
def vendor(httpserver: HTTPServer, settings: Settings, tmp_path: Path) -> Iterator[OpenAI]:
    vendor = OpenAI(httpserver)
    settings.QUARRY_HOME = tmp_path
    settings.QUARRY_OPENAI_URL, settings.QUARRY_OPENAI_KEY = vendor.url, ""
    settings.QUARRY_SUMMARIZER = settings.QUARRY_ANSWERER = "openai:llama3.2"
    settings.QUARRY_TRANSCRIBER = "openai:whisper-large"
    providers._load_embedder.cache_clear()
    yield vendor
    providers._load_embedder.cache_clear()


def test_a_library_is_changed_over_while_it_is_searched(vendor: OpenAI, library: Access) -> None:
    fill(library, 30)
    seen = []

    generation = building.next_generation(MODEL)
    assert generation
    assert (generation.model, generation.dimensions, generation.state) == ("bge-m3", 24, "building")
    for _ in building.build(generation):
        answer = search(library, query="the harbour", mode="semantic", limit=5)
        seen.append((len(answer.hits), answer.degraded))

    assert set(seen) == {(5, None)}
    assert generations.live_generation().embedder == MODEL
    made = ChunkEmbedding.objects.filter(generation=generation)
    assert made.count() == Chunk.objects.count()
    title = "On the harbour. Note 7 about the harbour, which nobody has read."
    assert search(library, query=title, mode="semantic").hits
    assert vendor.keys[0] == ""


def test_what_a_server_fails_at_half_way_is_taken_up_where_it_stopped(
    vendor: OpenAI, library: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "BATCH", 3)
    fill(library, 8)
    old = generations.live_generation()
    generation = building.next_generation(MODEL)
    assert generation
    steps = building.build(generation)
    next(steps)
    done = next(steps).done
    vendor.answers = {"embeddings": [openai_error(401, "revoked")]}
    with pytest.raises(ProviderUnavailable, match=r"The key .* \(at item"):
        list(steps)
    assert generations.live_generation() == old
    assert search(library, query="harbour", mode="semantic").hits
    assert ChunkEmbedding.objects.filter(generation=generation).count() == done == 3
    vendor.requests.clear()

    again = building.next_generation(MODEL)
    assert again == generation
    list(building.build(again))

    assert generations.live_generation() == generation
    sizes = [len(request["input"]) for request in vendor.asked("embeddings")]
    assert max(sizes) == 3  # of several items together
    texts = [text for request in vendor.asked("embeddings") for text in request["input"]]
    assert len(texts) == Chunk.objects.count() - done


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([ollama_missing("bge-m3")], "no model bge-m3"),
        (
            [vectors([[1.0] * 4_096] * 12), *[vectors([[1.0] * 4_096])] * 12],
            "4,096 dimensions.*@2048",
        ),
        ([vectors([[1.0] * 8] * 12), *[vectors([[1.0] * 9])] * 12], "8 dimensions .* 9"),
    ],
)
def test_a_model_that_cannot_serve_is_refused_before_anything_is_written(
    vendor: OpenAI, library: Access, answers: list[Response], said: str
) -> None:
    fill(library, 2)
    before = Generation.objects.count()
    vendor.answers = {"embeddings": answers}
    with pytest.raises(ProviderUnavailable, match=said):
        building.next_generation(MODEL)
    assert Generation.objects.count() == before


def test_a_model_that_changes_under_its_name_is_not_mixed_in(
    vendor: OpenAI, library: Access, add: Add
) -> None:
    fill(library, 2)
    generation = building.next_generation(MODEL)
    assert generation
    list(building.build(generation))
    vendor.answers = {"embeddings": [vectors([[1.0] * 9]) for _ in range(3)]}

    item = add("Boats", "granite boats")
    answer = search(library, query="granite")

    assert item.index_status == "keyword"
    assert answer.mode == "keyword"
    assert answer.degraded
    assert "24 dimensions" in answer.degraded
    assert "answers 9" in answer.degraded


def test_without_its_server_a_new_library_is_found_by_word(
    vendor: OpenAI, library: Access, add: Add, settings: Settings
) -> None:
    settings.QUARRY_EMBEDDER = MODEL
    settings.QUARRY_OPENAI_URL = "http://127.0.0.1:9"

    item = add("Stone", "granite and marble")

    assert item.index_status == "keyword"
    found = search(library, query="granite")
    assert [hit.item.pk for hit in found.hits] == [item.pk]
    assert "has not answered yet" in (found.degraded or "")
    with pytest.raises(ProviderUnavailable, match="has not answered yet"):
        search(library, query="granite", mode="semantic")


def test_it_sums_up_answers_and_transcribes(
    vendor: OpenAI, library: Access, add: Add, site: HTTPServer
) -> None:
    item = add("Stone", "Granite is hard. Chalk is soft.")

    transform_item(library, item.pk)
    run_jobs()
    assert Transform.objects.get(item=item).tldr == "Granite is hard."

    vendor.answers = {"chat": [completion("Granite [1.1]. It floats [9.9].", tokens=(900, 90))]}
    answer = answer_question(library, "Is granite hard?")
    assert [[each.text for each in paragraph] for paragraph in answer.paragraphs] == [["Granite."]]
    assert (answer.dropped, answer.sources[0].item.pk) == (1, item.pk)

    vendor.speech = [{"start": 1.0, "end": 2.0, "text": "Kreide ist weich."}]
    vendor.language = "german"
    recording = add_link(library, serve_recording(site))
    run_jobs()
    heard = shelves.get_item(library, recording.pk).content
    assert (heard.rung, heard.language, heard.text) == ("openai", "de", "Kreide ist weich.")
