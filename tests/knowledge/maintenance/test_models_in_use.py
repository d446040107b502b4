"""What is told of each model: by the doctor, in the admin, and before an embedder is changed."""

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import cast

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge import providers
from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.maintenance.models_in_use import estimate_change, models_in_use, try_models
from knowledge.models import Chunk, Generation
from knowledge.monitoring.metrics import provider_call
from knowledge.providers.onnx_rerank import OnnxReranker
from tests.support.cross_encoders import write_cross_encoder
from tests.support.index import fill, reindex
from tests.support.wire.openai import OpenAI, ollama_missing, vectors


@pytest.fixture
def vendor(httpserver: HTTPServer, settings: Settings, tmp_path: Path) -> Iterator[OpenAI]:
    vendor = OpenAI(httpserver)
    settings.QUARRY_HOME = tmp_path
    settings.QUARRY_OPENAI_URL, settings.QUARRY_OPENAI_KEY = vendor.url, "secret"
    settings.QUARRY_EMBEDDER = "openai:text-embedding-3-small"
    settings.QUARRY_SUMMARIZER = settings.QUARRY_ANSWERER = "openai:llama3.2"
    settings.QUARRY_TRANSCRIBER = "openai:whisper-1"
    settings.QUARRY_PRICES = {"llama3.2": (0.1, 0.4)}
    providers._load_embedder.cache_clear()
    yield vendor
    providers._load_embedder.cache_clear()


def doctor() -> dict[str, dict[str, str]]:
    out = StringIO()
    try:
        call_command("doctor", "--json", stdout=out)
    except CommandError as error:
        assert str(error) == "Something needs fixing."  # noqa: PT017 (either outcome will do)
    return {finding["about"]: finding for finding in json.loads(out.getvalue())}


def fail(provider: str) -> None:
    with pytest.raises(ProviderUnavailable), provider_call(provider, "embed_query"):
        raise ProviderUnavailable("It was away.")


def test_each_model_is_shown_with_price_and_errors_and_tried_when_that_is_asked(
    vendor: OpenAI, library: Access
) -> None:
    fail("openai:text-embedding-3-small")
    fail("openai:text-embedding-3-small")
    fail("openai")  # as the recordings say

    quiet = {model.job: model for model in models_in_use()}
    assert vendor.requests == []
    assert quiet["search by meaning"].figures == [
        "$0.02 a million tokens read",
        "errors in the last day: 2 (last: It was away.)",
    ]
    assert quiet["answers"].figures == ["$0.1 a million tokens read, $0.4 written"]
    assert (quiet["speech"].model, quiet["speech"].price) == ("whisper-1", "$0.36 an hour")
    assert quiet["speech"].errors.count == 1

    tried = {model.job: model for model in try_models()}
    assert tried["search by meaning"].dimensions == 24
    assert all(model.ms is not None and not model.trouble for model in tried.values())
    assert (tried["search by meaning"].chunks_a_second or 0) > 0


def test_the_doctor_says_which_model_does_not_work_and_why(vendor: OpenAI, library: Access) -> None:
    found = doctor()
    assert "24 dimensions; $0.02 a million tokens read" in found["embedder"]["seen"]
    assert "chunks/s" in found["embedder"]["seen"]
    assert {found[about]["state"] for about in ("summaries", "answers", "transcriber")} == {"ok"}
    assert "openai:whisper-1 (chosen by" in found["transcriber"]["seen"]

    vendor.answers = {"chat": [ollama_missing("llama3.2")]}
    summaries = doctor()["summaries"]
    assert summaries["state"] == "fail"
    assert "try pulling it first" in summaries["fix"]
    assert "secret" not in json.dumps(found)


def test_the_doctor_names_settings_that_contradict_each_other(
    vendor: OpenAI, settings: Settings, library: Access
) -> None:
    settings.QUARRY_SUMMARIZER, settings.QUARRY_SUMMARIZER_URL = "claude", "http://gpu"
    models = doctor()["models"]
    assert models["state"] == "fail"
    assert "set QUARRY_SUMMARIZER=openai:MODEL, or unset them" in models["fix"]


def test_the_doctor_names_languages_that_the_embedder_does_not_know(
    settings: Settings, library: Access, add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Stone", "Гранит добывают в карьере у моря, и корабли увозят его в далёкие города.")
    add("Chalk", "Chalk is soft and white, and the sea takes it away.")
    fake = providers.live_embedder()
    assert doctor()["languages"]["state"] == "ok"
    monkeypatch.setattr(fake, "languages", frozenset({"en"}))

    languages = doctor()["languages"]

    assert languages["state"] == "note"
    assert "Russian (1)" in languages["seen"]
    assert "QUARRY_EMBEDDER=universal" in languages["fix"]


def test_a_change_of_embedder_is_estimated_before_anything_is_written(
    vendor: OpenAI, library: Access, settings: Settings
) -> None:
    settings.QUARRY_EMBEDDER = "fake"
    fill(library, 6)

    estimate = estimate_change("openai:text-embedding-3-small")

    assert estimate.chunks == Chunk.objects.count()
    assert estimate.tokens > 100
    assert estimate.usd == pytest.approx(estimate.tokens * 0.02 / 1e6, rel=0.01)
    assert Generation.objects.count() == 1
    unpriced = reindex("--embedder", "openai:bge-m3", "--estimate")
    assert "price not known (see QUARRY_PRICES), less than a second" in unpriced
    assert "Nothing was written" in reindex("--embedder", "fake", "--estimate")
    with pytest.raises(CommandError, match="name it"):
        reindex("--estimate")

    vendor.answers = {"embeddings": [vectors([[1.0] * 4_096]), vectors([[1.0] * 4_096] * 6)]}
    with pytest.raises(CommandError, match="name the embedder openai:large@2048;"):
        reindex("--embedder", "openai:large@4096", "--estimate")


def test_a_local_reranker_is_loaded_before_it_is_tried(
    library: Access, settings: Settings, tmp_path: Path
) -> None:
    settings.QUARRY_RERANKER = f"onnx:{write_cross_encoder(tmp_path / 'tiny')}"
    settings.QUARRY_RERANK_MS = 20_000
    try:
        assert re.search(r"^onnx:.*tiny; free; answered in \d+ ms$", doctor()["reranker"]["seen"])
    finally:
        cast(OnnxReranker, providers.live_reranker()).close()
        providers._load_reranker.cache_clear()


def test_the_admin_shows_and_tries_the_models(vendor: OpenAI, owner: User, client: Client) -> None:
    owner.is_staff = owner.is_superuser = True
    owner.save()
    client.force_login(owner)
    page = reverse("admin:knowledge_generation_changelist")

    shown = client.get(page).content.decode()
    assert "text-embedding-3-small" in shown
    assert vendor.requests == []

    tried = client.post(page).content.decode()
    assert "chunks/s" in tried
    assert "secret" not in shown + tried
