"""The vendors and models that Quarry can run on, by the names that the settings call them.

A name is that of a provider, or `provider:model` for those that run many models.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TypeVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from knowledge.errors import ProviderUnavailable
from knowledge.providers.model_servers import check_model_settings, server_for, split_dimensions
from knowledge.providers.protocols import (
    Answerer,
    Embedder,
    LocalModel,
    Reranker,
    Summarizer,
    Transcriber,
)

T = TypeVar("T")

_loading = Lock()


def _make(
    kind: str, name: str, plain: Mapping[str, Callable[[], T]], **of_models: Callable[[str], T]
) -> T:
    """What a name of the settings stands for; one that nobody knows is refused with the known."""
    provider, _, model = name.partition(":")
    if name in plain:
        return plain[name]()
    if provider in of_models:
        return of_models[provider](model)
    known = ", ".join(sorted([*plain, *(f"{each}:MODEL" for each in of_models)]))
    raise ImproperlyConfigured(f"There is no {kind} {name!r}; there are: {known}.")


def check_choices() -> None:
    """Refuse settings that cannot work, at the start; a missing key only turns a job off."""
    check_model_settings()
    makers = (live_embedder, live_summarizer, live_answerer, live_transcriber)
    for make in (*makers, *([live_reranker] if settings.QUARRY_RERANKER else [])):
        with suppress(ProviderUnavailable):
            make()


# Embedders ------------------------------------------------------------------------------------


def live_embedder() -> Embedder:
    """The embedder that the settings choose for a new index."""
    return embedder_named(settings.QUARRY_EMBEDDER)


def embedder_named(name: str) -> Embedder:
    """The embedder of that name, loaded once for the whole process; its vendor's code only now."""
    with _loading:
        return _load_embedder(name)


@cache
def _load_embedder(name: str) -> Embedder:
    return _make("embedder", name, _EMBEDDERS, openai=_openai_embedder, voyage=_voyage_embedder)


def _granite() -> Embedder:
    from knowledge.providers.granite import GraniteEmbedder

    return GraniteEmbedder(cache_dir=Path(settings.QUARRY_HOME) / "models")


def _universal() -> Embedder:
    from knowledge.providers.universal import UniversalEmbedder

    return UniversalEmbedder()


def _voyage() -> Embedder:
    return _voyage_embedder("voyage-context-3")


def _voyage_embedder(model: str) -> Embedder:
    from knowledge.providers.voyage import VoyageEmbedder

    if not model.startswith("voyage-context-"):
        raise ImproperlyConfigured(
            f"{model} is not one of Voyage's contextual models: voyage:voyage-context-4 is."
        )
    base_url = settings.VOYAGE_BASE_URL or None
    return VoyageEmbedder(settings.VOYAGE_API_KEY, base_url=base_url, model=model)


def _openai_embedder(model: str) -> Embedder:
    from knowledge.providers.openai_embeddings import OpenAIEmbedder

    model, dimensions = split_dimensions(model)
    return OpenAIEmbedder(server_for("EMBEDDER", model), dimensions=dimensions)


def _fake() -> Embedder:
    from knowledge.providers.fake import FakeEmbedder

    return FakeEmbedder()


_EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "granite": _granite,
    "universal": _universal,
    "voyage": _voyage,
    "fake": _fake,
}


# Reranking ------------------------------------------------------------------------------------


def live_reranker() -> Reranker:
    """The reranker that the settings choose, made once; there must be one."""
    with _loading:
        return _load_reranker(settings.QUARRY_RERANKER)


def load_reranker() -> None:
    """Have the model of the reranker in memory, if there is one that runs here."""
    if settings.QUARRY_RERANKER and isinstance(reranker := live_reranker(), LocalModel):
        reranker.load()


@cache
def _load_reranker(name: str) -> Reranker:
    return _make("reranker", name, _RERANKERS, onnx=_onnx_reranker, voyage=_voyage_reranker)


def _onnx_reranker(folder: str) -> Reranker:
    from knowledge.providers.onnx_rerank import OnnxReranker

    return OnnxReranker(Path(folder))


def _voyage_reranker(model: str = "rerank-2.5") -> Reranker:
    from knowledge.providers.voyage_rerank import VoyageReranker

    base_url = settings.VOYAGE_BASE_URL or None
    return VoyageReranker(settings.VOYAGE_API_KEY, base_url=base_url, model=model)


_RERANKERS: dict[str, Callable[[], Reranker]] = {"voyage": _voyage_reranker}


# Summaries ------------------------------------------------------------------------------------


def live_summarizer() -> Summarizer:
    """The summarizer that the settings choose; ProviderUnavailable when it lacks its key."""
    return summarizer_named(settings.QUARRY_SUMMARIZER)


def summarizer_named(name: str) -> Summarizer:
    """The summarizer of that name; its vendor's code is loaded when it is first asked."""
    return _make("summarizer", name, _SUMMARIZERS, openai=_openai_summarizer)


def _claude() -> Summarizer:
    from knowledge.providers.claude import ClaudeSummarizer

    return ClaudeSummarizer(
        settings.ANTHROPIC_API_KEY,
        base_url=settings.ANTHROPIC_BASE_URL,
        model=settings.QUARRY_SUMMARY_MODEL,
    )


def _openai_summarizer(model: str) -> Summarizer:
    from knowledge.providers.openai_chat import OpenAISummarizer

    return OpenAISummarizer(
        server_for("SUMMARIZER", model),
        context=settings.QUARRY_OPENAI_CONTEXT,
        prices=settings.QUARRY_PRICES,
    )


def _fake_summarizer() -> Summarizer:
    from knowledge.providers.fake import FakeSummarizer

    return FakeSummarizer()


_SUMMARIZERS: dict[str, Callable[[], Summarizer]] = {
    "claude": _claude,
    "fake": _fake_summarizer,
}


# Answers --------------------------------------------------------------------------------------


def live_answerer() -> Answerer:
    """The answerer that the settings choose; ProviderUnavailable when it lacks its key."""
    return _make("answerer", settings.QUARRY_ANSWERER, _ANSWERERS, openai=_openai_answerer)


def _claude_answerer() -> Answerer:
    from knowledge.providers.claude_answers import ClaudeAnswerer

    return ClaudeAnswerer(
        settings.ANTHROPIC_API_KEY,
        base_url=settings.ANTHROPIC_BASE_URL,
        model=settings.QUARRY_ANSWER_MODEL,
    )


def _openai_answerer(model: str) -> Answerer:
    from knowledge.providers.openai_answers import OpenAIAnswerer

    return OpenAIAnswerer(
        server_for("ANSWERER", model),
        context=settings.QUARRY_OPENAI_CONTEXT,
        prices=settings.QUARRY_PRICES,
    )


def _fake_answerer() -> Answerer:
    from knowledge.providers.fake import FakeAnswerer

    return FakeAnswerer()


_ANSWERERS: dict[str, Callable[[], Answerer]] = {
    "claude": _claude_answerer,
    "fake": _fake_answerer,
}


# Speech ---------------------------------------------------------------------------------------


def live_transcriber() -> Transcriber:
    """The transcriber that the settings choose for recordings to come."""
    return transcriber_named(settings.QUARRY_TRANSCRIBER)


def transcriber_named(name: str) -> Transcriber:
    """The transcriber of that name; its vendor's code and its model are loaded when it is used.

    A recording keeps only the provider's name: `openai` is the model that the settings name now.
    """
    if name == "openai" != settings.QUARRY_TRANSCRIBER:
        if not settings.QUARRY_TRANSCRIBER.startswith("openai:"):
            raise ProviderUnavailable(
                "This recording was begun by a model server that is configured no more: set "
                "QUARRY_TRANSCRIBER=openai:MODEL again, or retry the item.",
                may_pass=False,
            )
        name = settings.QUARRY_TRANSCRIBER
    return _make("transcriber", name, _TRANSCRIBERS, openai=_openai_transcriber)


def _whisper() -> Transcriber:
    with _loading:
        return _load_whisper(Path(settings.QUARRY_HOME), settings.QUARRY_WHISPER_MODEL)


@cache
def _load_whisper(home: Path, model: str) -> Transcriber:
    from knowledge.providers.whisper import WhisperTranscriber

    return WhisperTranscriber(home=home, model=model)


def _assemblyai() -> Transcriber:
    from knowledge.providers.assemblyai import AssemblyAITranscriber

    return AssemblyAITranscriber(settings.ASSEMBLYAI_API_KEY, base_url=settings.ASSEMBLYAI_BASE_URL)


def _gladia() -> Transcriber:
    from knowledge.providers.gladia import GladiaTranscriber

    return GladiaTranscriber(settings.GLADIA_API_KEY, base_url=settings.GLADIA_BASE_URL)


def _openai_transcriber(model: str) -> Transcriber:
    from knowledge.providers.openai_speech import OpenAITranscriber

    return OpenAITranscriber(server_for("TRANSCRIBER", model), home=Path(settings.QUARRY_HOME))


def _fake_transcriber() -> Transcriber:
    from knowledge.providers.fake import FakeTranscriber

    return FakeTranscriber()


_TRANSCRIBERS: dict[str, Callable[[], Transcriber]] = {
    "whisper": _whisper,
    "assemblyai": _assemblyai,
    "gladia": _gladia,
    "fake": _fake_transcriber,
}
