"""A question answered out of what the caller may see, with the passages it was answered from."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F

from knowledge.access import Access, Capability
from knowledge.asking.cited_text import CitedSentence, cited_paragraphs
from knowledge.asking.passages import QuotedSpan, ReadPassage, read_passages
from knowledge.errors import ProviderUnavailable
from knowledge.ledger import quotas
from knowledge.models import Item, Usage
from knowledge.monitoring.metrics import provider_call
from knowledge.providers import live_answerer
from knowledge.providers.protocols import Answerer, Citation, CitedAnswer
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import LibrarySearchRequest, search
from knowledge.validation import clean_text

MAX_QUESTION = 1_000
PASSAGES = 12
MOST_TOKENS = 8_000
"""Of all passages together; what is further down the ranking is left out."""
_MARGIN = 1.5
"""Tokens are estimated, and the vendor counts its own."""


@dataclass(frozen=True, slots=True)
class Source:
    """A place that an answer cites, by the number that its sentences name."""

    number: int
    item: Item
    span: QuotedSpan


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer, and the places that it stands on."""

    text: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryAnswer:
    """What the library says to a question; without a paragraph it does not answer."""

    question: str
    paragraphs: list[list[AnswerSentence]] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    read: list[ReadPassage] = field(default_factory=list)
    """All that the model was given to read."""
    suspected: list[Item] = field(default_factory=list)
    """Found, and not given to the model: the screening suspects an order to it in them."""
    dropped: int = 0
    """Sentences that cited nothing, and are left out."""
    model: str = ""
    cost_usd: float = 0.0
    degraded: str | None = None
    is_whole: bool = True
    """Whether nothing more will come."""

    @property
    def is_answered(self) -> bool:
        return bool(self.paragraphs)


@dataclass(frozen=True, slots=True)
class Offer:
    """Who would answer, and what a question costs at most."""

    model: str
    at_most_usd: float


def offer_answers(access: Access) -> Offer:
    """What the caller would spend; ProviderUnavailable if nobody can answer here."""
    access.require(Capability.READ)
    answerer = live_answerer()
    return Offer(answerer.name, answerer.highest_price(_MARGIN * (MOST_TOKENS + MAX_QUESTION)))


def answer_question(
    access: Access, question: str, *, narrowing: Narrowing | None = None
) -> LibraryAnswer:
    """Answer out of the best passages; what they do not say is not said."""
    *_, answer = stream_answer(access, question, narrowing=narrowing)
    return answer


def stream_answer(
    access: Access, question: str, *, narrowing: Narrowing | None = None
) -> Generator[LibraryAnswer, None, None]:
    """The answer as far as its sentences stand on passages, and last the whole of it."""
    access.require(Capability.READ)
    question = clean_text(question.strip(), field="question", shortest=3, longest=MAX_QUESTION)
    answerer = live_answerer()
    request = LibrarySearchRequest(
        query=question, limit=PASSAGES, narrowing=narrowing or Narrowing()
    )
    found = search(access, request)
    clean = [hit for hit in found.hits if not hit.item.suspected]
    suspected = {hit.item.pk: hit.item for hit in found.hits if hit.item.suspected}
    passages = read_passages(clean, most_tokens=MOST_TOKENS)
    nothing_yet = LibraryAnswer(
        question=question,
        read=passages,
        suspected=list(suspected.values()),
        degraded=found.degraded,
    )
    if not passages:
        yield nothing_yet
        return
    for cited, is_whole in _ask(access, answerer, question, passages):
        yield _with_sentences(nothing_yet, cited, is_whole=is_whole)


def _with_sentences(answer: LibraryAnswer, cited: CitedAnswer, *, is_whole: bool) -> LibraryAnswer:
    paragraphs, dropped = cited_paragraphs(cited.parts)
    sources = _sources(paragraphs, answer.read)
    return replace(
        answer,
        paragraphs=[
            [
                AnswerSentence(each.text, tuple(sources[cited] for cited in each.citations))
                for each in sentences
            ]
            for sentences in paragraphs
        ],
        sources=list(sources.values()),
        dropped=dropped,
        model=cited.model,
        cost_usd=cited.cost_usd,
        is_whole=is_whole,
    )


def _ask(
    access: Access, answerer: Answerer, question: str, passages: Sequence[ReadPassage]
) -> Iterator[tuple[CitedAnswer, bool]]:
    """One call of the model: each draft, and the whole, with whether it is that.

    It is counted when it has answered, and when whoever asked has left before that.
    """
    if not connection.in_atomic_block:
        connection.close()  # for it may take a minute, and others need the pool
    cited: CitedAnswer | None = None
    try:
        with provider_call(settings.QUARRY_ANSWERER, "answer"):
            for cited in answerer.answer(question, [each.as_source() for each in passages]):
                yield cited, False
    except GeneratorExit:
        if cited is not None:
            _count(access.owner_id, cited.cost_usd)
        raise
    if cited is None:
        raise ProviderUnavailable("No answer came; ask again.", may_pass=True)
    _count(access.owner_id, cited.cost_usd)
    yield cited, True


@transaction.atomic
def _count(owner_id: int, cost_usd: float) -> None:
    usage = quotas.lock_usage_of_this_month(owner_id)
    Usage.objects.filter(pk=usage.pk).update(
        answers=F("answers") + 1,
        answers_cost_usd=F("answers_cost_usd") + Decimal(str(round(cost_usd, 4))),
    )


def _sources(
    paragraphs: Sequence[Sequence[CitedSentence]], passages: Sequence[ReadPassage]
) -> dict[Citation, Source]:
    """Each cited place once, numbered in the order in which the sentences name them."""
    citations = dict.fromkeys(
        citation
        for sentences in paragraphs
        for sentence in sentences
        for citation in sentence.citations
    )
    return {
        each: Source(number, passages[each.passage].item, passages[each.passage].span_of(each))
        for number, each in enumerate(citations, start=1)
    }
