"""The vendors and models that Quarry can run on, by the names that the settings call them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from knowledge.providers.protocols import Answerer, Embedder, Summarizer, Transcriber

_loading = Lock()


def live_embedder() -> Embedder:
    """The embedder that the settings choose for a new index."""
    return embedder_named(settings.QUARRY_EMBEDDER)


def embedder_named(name: str) -> Embedder:
    """The embedder of that name, loaded once for the whole process; its vendor's code only now."""
    if name not in _EMBEDDERS:
        known = ", ".join(sorted(_EMBEDDERS))
        raise ImproperlyConfigured(f"There is no embedder {name!r}; there are: {known}.")
    with _loading:
        return _load_embedder(name)


@cache
def _load_embedder(name: str) -> Embedder:
    return _EMBEDDERS[name]()


def _granite() -> Embedder:
    from knowledge.providers.granite import GraniteEmbedder

    return GraniteEmbedder(cache_dir=Path(settings.QUARRY_HOME) / "models")


def _voyage() -> Embedder:
    from knowledge.providers.voyage import VoyageEmbedder

    return VoyageEmbedder(settings.VOYAGE_API_KEY, base_url=settings.VOYAGE_BASE_URL or None)


def _fake() -> Embedder:
    from knowledge.providers.fake import FakeEmbedder

    return FakeEmbedder()


_EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "granite": _granite,
    "voyage": _voyage,
    "fake": _fake,
}


def live_summarizer() -> Summarizer:
    """The summarizer that the settings choose; ProviderUnavailable when it lacks its key."""
    return summarizer_named(settings.QUARRY_SUMMARIZER)


def summarizer_named(name: str) -> Summarizer:
    """The summarizer of that name; its vendor's code is loaded when it is first asked."""
    if name not in _SUMMARIZERS:
        known = ", ".join(sorted(_SUMMARIZERS))
        raise ImproperlyConfigured(f"There is no summarizer {name!r}; there are: {known}.")
    return _SUMMARIZERS[name]()


def _claude() -> Summarizer:
    from knowledge.providers.claude import ClaudeSummarizer

    return ClaudeSummarizer(
        settings.ANTHROPIC_API_KEY,
        base_url=settings.ANTHROPIC_BASE_URL,
        model=settings.QUARRY_SUMMARY_MODEL,
    )


def _fake_summarizer() -> Summarizer:
    from knowledge.providers.fake import FakeSummarizer

    return FakeSummarizer()


_SUMMARIZERS: dict[str, Callable[[], Summarizer]] = {
    "claude": _claude,
    "fake": _fake_summarizer,
}


def live_answerer() -> Answerer:
    """The answerer that the settings choose; ProviderUnavailable when it lacks its key."""
    name = settings.QUARRY_ANSWERER
    if name not in _ANSWERERS:
        known = ", ".join(sorted(_ANSWERERS))
        raise ImproperlyConfigured(f"There is no answerer {name!r}; there are: {known}.")
    return _ANSWERERS[name]()


def _claude_answerer() -> Answerer:
    from knowledge.providers.claude_answers import ClaudeAnswerer

    return ClaudeAnswerer(
        settings.ANTHROPIC_API_KEY,
        base_url=settings.ANTHROPIC_BASE_URL,
        model=settings.QUARRY_ANSWER_MODEL,
    )


def _fake_answerer() -> Answerer:
    from knowledge.providers.fake import FakeAnswerer

    return FakeAnswerer()


_ANSWERERS: dict[str, Callable[[], Answerer]] = {
    "claude": _claude_answerer,
    "fake": _fake_answerer,
}


def live_transcriber() -> Transcriber:
    """The transcriber that the settings choose for recordings to come."""
    return transcriber_named(settings.QUARRY_TRANSCRIBER)


def transcriber_named(name: str) -> Transcriber:
    """The transcriber of that name; its vendor's code and its model are loaded when it is used."""
    if name not in _TRANSCRIBERS:
        known = ", ".join(sorted(_TRANSCRIBERS))
        raise ImproperlyConfigured(f"There is no transcriber {name!r}; there are: {known}.")
    return _TRANSCRIBERS[name]()


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


def _fake_transcriber() -> Transcriber:
    from knowledge.providers.fake import FakeTranscriber

    return FakeTranscriber()


_TRANSCRIBERS: dict[str, Callable[[], Transcriber]] = {
    "whisper": _whisper,
    "assemblyai": _assemblyai,
    "gladia": _gladia,
    "fake": _fake_transcriber,
}
