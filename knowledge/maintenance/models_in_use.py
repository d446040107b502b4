"""The models that the settings choose: what each is and costs, and how it does when it is tried."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from knowledge.errors import ProviderUnavailable, QuarryError
from knowledge.indexing.generations import check_dimensions, embedder_of
from knowledge.models import Chunk, ChunkEmbedding, Generation
from knowledge.monitoring import model_errors
from knowledge.monitoring.model_errors import RecentErrors, recent_errors
from knowledge.providers import (
    embedder_named,
    live_answerer,
    live_reranker,
    live_summarizer,
    live_transcriber,
    load_reranker,
)
from knowledge.providers.known_models import prices_of
from knowledge.providers.measuring import PAIRS
from knowledge.providers.protocols import Embedder, Reranker, TriesOut, Vectors
from knowledge.text.chunking import indexed_text
from knowledge.text.token_estimate import token_count

EMBEDDING, RERANKING, SPEECH = "search by meaning", "reranking", "speech"
SUMMARIES, ANSWERS = "summaries", "answers"
LOCAL = ("granite", "universal", "fake", "whisper", "onnx")
TRIED_CHUNKS = 16
SAMPLED_CHUNKS = 1_000

_SAMPLE = """
    SELECT text, heading_path FROM knowledge_chunk TABLESAMPLE BERNOULLI (%s) LIMIT %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInUse:
    """One job, and the model that does it."""

    job: str
    setting: str
    choice: str
    model: str = ""
    dimensions: int | None = None
    price: str = ""
    errors: RecentErrors = model_errors.NONE
    trouble: str = ""
    """Why it cannot be used."""
    ms: float | None = None
    """What one question took."""
    chunks_a_second: float | None = None

    @property
    def figures(self) -> list[str]:
        """All that is known of it in numbers, each in a few words."""
        told = [f"{self.dimensions} dimensions" if self.dimensions else "", self.price]
        told += [f"answered in {self.ms:,.0f} ms" if self.ms is not None else ""]
        told += [f"{self.chunks_a_second:,.1f} chunks/s" if self.chunks_a_second else ""]
        if self.errors.count:
            told += [f"errors in the last day: {self.errors.count:,} (last: {self.errors.last})"]
        return [each for each in told if each]


def models_in_use() -> list[ModelInUse]:
    """What is configured; nobody is asked anything."""
    return [_about(job) for job in _jobs()]


def try_models() -> list[ModelInUse]:
    """The same, after one question to each: of what costs money, the cheapest there is."""
    return [_try(job) for job in _jobs()]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEstimate:
    """What it takes to embed with another embedder all that it has not embedded yet."""

    chunks: int
    tokens: int
    usd: float | None
    """None if nobody knows the price."""
    seconds: float


def estimate_change(name: str) -> ChangeEstimate:
    """By a sample of the texts, and by embedding a few of them."""
    embedder = embedder_named(name)
    embedder.embed_query("Does it answer?")  # a local model is loaded by this
    generations = Generation.objects.filter(embedder=name, model=embedder.name)
    done = ChunkEmbedding.objects.filter(generation__in=generations.order_by("-pk")[:1]).count()
    chunks = max(0, Chunk.objects.count() - done)
    texts = _sample()
    tokens = sum(map(token_count, texts)) / max(1, len(texts)) * chunks
    rate, vectors = _embed_timed(embedder, texts[:TRIED_CHUNKS] or [PAIRS[0][1]])
    check_dimensions(name, vectors.shape[1])
    usd = _usd_a_million(name, embedder.name)
    return ChangeEstimate(
        chunks=chunks,
        tokens=int(tokens),
        usd=None if usd is None else usd * tokens / 1_000_000,
        seconds=chunks / rate,
    )


@dataclass(frozen=True, slots=True)
class _Job:
    name: str
    setting: str
    choice: str
    make: Callable[[], object]


def _jobs() -> Iterator[_Job]:
    live = Generation.objects.filter(is_live=True).first()
    embedder = live.embedder if live else settings.QUARRY_EMBEDDER
    yield _Job(
        EMBEDDING,
        "QUARRY_EMBEDDER",
        embedder,
        lambda: embedder_of(live) if live else embedder_named(embedder),
    )
    if settings.QUARRY_RERANKER:
        yield _Job(RERANKING, "QUARRY_RERANKER", settings.QUARRY_RERANKER, live_reranker)
    yield _Job(SUMMARIES, "QUARRY_SUMMARIZER", settings.QUARRY_SUMMARIZER, live_summarizer)
    yield _Job(ANSWERS, "QUARRY_ANSWERER", settings.QUARRY_ANSWERER, live_answerer)
    yield _Job(SPEECH, "QUARRY_TRANSCRIBER", settings.QUARRY_TRANSCRIBER, live_transcriber)


def _about(job: _Job) -> ModelInUse:
    about = ModelInUse(job=job.name, setting=job.setting, choice=job.choice)
    try:
        made = job.make()
    except (ImproperlyConfigured, ProviderUnavailable) as error:
        return replace(about, trouble=str(error))
    live = Generation.objects.filter(is_live=True).first()
    name = str(getattr(made, "name", ""))
    is_speech = job.name == SPEECH  # whose provider's name stands without a model
    model = job.choice.partition(":")[2] or name if is_speech else name
    return replace(
        about,
        model=model,
        dimensions=live.dimensions if live and job.name == EMBEDDING else None,
        price=_price(job.choice, made, model),
        errors=recent_errors(name if is_speech else job.choice),
    )


def _try(job: _Job) -> ModelInUse:
    about = _about(job)
    if about.trouble:
        return about
    made = job.make()
    started = perf_counter()
    try:
        if job.name == EMBEDDING:
            return _try_embedder(about, cast(Embedder, made))
        if job.name == RERANKING:
            return _try_reranker(about, cast(Reranker, made))
        if not isinstance(made, TriesOut):
            return about
        made.try_out()
    except QuarryError as error:
        return replace(about, trouble=error.message)
    return replace(about, ms=1_000 * (perf_counter() - started))


def _try_embedder(about: ModelInUse, embedder: Embedder) -> ModelInUse:
    embedder.embed_query("Does it answer?")  # a local model is loaded by this
    started = perf_counter()
    dimensions = len(embedder.embed_query(PAIRS[0][0]))
    ms = 1_000 * (perf_counter() - started)
    texts = _sample()[:TRIED_CHUNKS] or [answer for _, answer in PAIRS]
    rate, _ = _embed_timed(embedder, texts)
    return replace(about, dimensions=dimensions, ms=ms, chunks_a_second=rate)


def _try_reranker(about: ModelInUse, reranker: Reranker) -> ModelInUse:
    load_reranker()
    seconds = settings.QUARRY_RERANK_MS / 1000 or reranker.usual_sec
    started = perf_counter()
    reranker.relevance(PAIRS[0][0], [answer for _, answer in PAIRS], seconds=seconds)
    return replace(about, ms=1_000 * (perf_counter() - started))


def _embed_timed(embedder: Embedder, texts: list[str]) -> tuple[float, Vectors]:
    """How many texts a second are embedded, and their vectors."""
    started = perf_counter()
    vectors = embedder.embed_document(texts)
    return len(texts) / max(1e-6, perf_counter() - started), vectors


def _sample() -> list[str]:
    """The texts of some chunks, as they are embedded."""
    share = min(100.0, 100.0 * SAMPLED_CHUNKS / max(1, Chunk.objects.count()))
    with connection.cursor() as cursor:
        cursor.execute(_SAMPLE, [share, SAMPLED_CHUNKS])
        return [indexed_text(text, "", tuple(headings)) for text, headings in cursor.fetchall()]


def _price(choice: str, made: object, model: str) -> str:
    if (hourly := getattr(made, "usd_per_hour", None)) is not None:
        return f"${hourly:g} an hour" if hourly else _price_without_table(choice)
    price = prices_of(model, settings.QUARRY_PRICES) or _claude_price(choice, made)
    if price is None or choice.partition(":")[0] in LOCAL:
        return _price_without_table(choice)
    read, written = price
    also = f", ${written:g} written" if written else ""
    return f"${read:g} a million tokens read{also}"


def _claude_price(choice: str, made: object) -> tuple[float, float] | None:
    """Those of Claude's models stand with its own provider."""
    if choice != "claude":
        return None
    from knowledge.providers.claude_api import price_of

    name = str(getattr(made, "name", ""))
    return price_of(name, 1_000_000, 0), price_of(name, 0, 1_000_000)


def _price_without_table(choice: str) -> str:
    return "free" if choice.partition(":")[0] in LOCAL else "price not known (see QUARRY_PRICES)"


def _usd_a_million(choice: str, model: str) -> float | None:
    if choice.partition(":")[0] in LOCAL:
        return 0.0
    price = prices_of(model, settings.QUARRY_PRICES)
    return price[0] if price else None
