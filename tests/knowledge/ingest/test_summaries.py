"""Summaries: asked for, made by a job, kept once, with quotes that lead to their places."""

from datetime import timedelta
from uuid import UUID, uuid4

import dramatiq
import pytest
from django.db import transaction
from django.utils import timezone
from dramatiq.brokers.stub import StubBroker
from pytest_httpserver import HTTPServer

from knowledge import providers
from knowledge.access import Access
from knowledge.errors import CapabilityDenied, Conflict, NotFound, ProviderUnavailable
from knowledge.ingest import followups, summaries, transforms
from knowledge.models import Content, ContentState, Item, Transform, TransformState, Usage
from knowledge.providers.fake import FakeSummarizer
from knowledge.providers.protocols import Summary
from knowledge.text.quotes import span_of
from tests.support.library import Add, Mint
from tests.support.wire.anthropic import Anthropic, failure, told


class Scripted(FakeSummarizer):
    """Counts how often it was paid, and says what it is told to say."""

    def __init__(self, quotes: tuple[str, ...] = (), failure: Exception | None = None) -> None:
        super().__init__(failure=failure)
        self.quotes = quotes
        self.calls = 0

    def summarize(self, title: str, text: str) -> Summary:
        self.calls += 1
        if self.failure:
            raise self.failure
        return Summary(
            tldr=f"Gist {self.calls}.",
            key_points=("One.",),
            quotes=self.quotes,
            model="m" * 200,
            cost_usd=0.01234,
        )


@pytest.fixture
def summarizer(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    scripted = Scripted()
    monkeypatch.setitem(providers._SUMMARIZERS, "fake", lambda: scripted)
    return scripted


@pytest.fixture
def without_key(settings) -> None:
    settings.QUARRY_SUMMARIZER, settings.ANTHROPIC_API_KEY = "claude", ""


def queued_jobs() -> list[str]:
    broker = dramatiq.get_broker()
    assert isinstance(broker, StubBroker)
    waiting = [dramatiq.Message.decode(data) for data in broker.queues["long"].queue]
    return [each.args[0] for each in waiting if each.actor_name == "summarize_item"]


def make_unready(item: Item) -> Content:
    Content.objects.filter(pk=item.content_id).update(state=ContentState.QUEUED)
    item.content.refresh_from_db()
    return item.content


def transform_of(item: Item) -> Transform:
    return Transform.objects.get(item=item)


def test_a_summary_is_queued_made_and_kept(library: Access, add: Add, summarizer: Scripted) -> None:
    item = add("Stone", "Granite is hard.")

    transform = transforms.transform_item(library, item.pk)
    assert (transform.state, queued_jobs()) == ("queued", [str(item.pk)])
    followups.summarize_item(str(item.pk))

    kept = transform_of(item)
    assert (kept.state, kept.tldr, kept.key_points) == ("done", "Gist 1.", ["One."])
    assert (str(kept.cost_usd), len(kept.model)) == ("0.0123", 100)


def test_claude_is_asked_by_the_job_and_its_cost_kept(
    library: Access, add: Add, httpserver: HTTPServer, settings
) -> None:
    vendor = Anthropic(httpserver)
    vendor.answers = [failure(529), told("Gist.", quotes=["Granite is hard."])]
    settings.QUARRY_SUMMARIZER, settings.ANTHROPIC_API_KEY = "claude", "secret"
    settings.ANTHROPIC_BASE_URL = vendor.base_url
    item = add("Stone", "Granite is hard.")
    transforms.transform_item(library, item.pk)

    with pytest.raises(ProviderUnavailable):
        summaries.summarize_item(item.pk)
    summaries.summarize_item(item.pk)

    kept = transform_of(item)
    assert (kept.state, kept.tldr, kept.model) == ("done", "Gist.", "claude-sonnet-5-5")
    assert (str(kept.cost_usd), len(kept.quotes)) == ("0.0040", 1)
    assert len(vendor.requests) == 2


def test_a_job_that_runs_twice_pays_and_counts_once(
    library: Access, add: Add, summarizer: Scripted
) -> None:
    item = add("Stone")
    transforms.transform_item(library, item.pk)

    for _ in range(2):
        followups.summarize_item(str(item.pk))

    assert summarizer.calls == 1
    usage = Usage.objects.get()
    assert (usage.owner_id, usage.transforms) == (library.owner_id, 1)
    assert usage.month == timezone.now().date().replace(day=1)


def test_two_workers_at_once_keep_and_count_one_summary(
    library: Access, add: Add, summarizer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = add("Stone")
    transforms.transform_item(library, item.pk)
    slow = Scripted()

    def overtaken(title: str, text: str) -> Summary:
        monkeypatch.setitem(providers._SUMMARIZERS, "fake", lambda: summarizer)
        summaries.summarize_item(item.pk)
        return Scripted.summarize(slow, title, text)

    monkeypatch.setattr(slow, "summarize", overtaken)
    monkeypatch.setitem(providers._SUMMARIZERS, "fake", lambda: slow)
    summaries.summarize_item(item.pk)

    assert Usage.objects.get().transforms == 1
    assert transform_of(item).state == "done"


def test_a_done_summary_is_made_anew_only_when_asked(
    library: Access, add: Add, summarizer: Scripted
) -> None:
    item = add("Stone")
    for _ in range(2):
        transforms.transform_item(library, item.pk)
        followups.summarize_item(str(item.pk))

    assert transform_of(item).tldr == "Gist 2."
    assert Usage.objects.get().transforms == 2


def test_asking_while_one_is_under_way_sends_no_second_job(library: Access, add: Add) -> None:
    item = add("Stone")
    for _ in range(2):
        transforms.transform_item(library, item.pk)
    assert queued_jobs() == [str(item.pk)]

    long_ago = timezone.now() - transforms.LOST_AFTER - timedelta(minutes=1)
    Transform.objects.update(changed_at=long_ago)
    transforms.transform_item(library, item.pk)
    assert queued_jobs() == [str(item.pk)] * 2


def test_quotes_lead_to_the_second_and_to_the_page(
    library: Access, add: Add, summarizer: Scripted
) -> None:
    item = add("Talk", "Good evening. Granite is\nhard. Thank you.")
    text = item.content.text
    at = text.index("Granite")
    parts = [
        {"start": 0, "end": at - 1, "start_sec": 0.0, "end_sec": 80.0},
        {"start": at, "end": len(text), "start_sec": 83.5, "end_sec": 99.0},
    ]
    Content.objects.filter(pk=item.content_id).update(
        locators=parts, kind="youtube", url="https://www.youtube.com/watch?v=abc"
    )
    summarizer.quotes = ("Granite is hard.", "Granite is soft.")

    transforms.transform_item(library, item.pk)
    followups.summarize_item(str(item.pk))

    end = text.index("hard.") + len("hard.")
    assert transform_of(item).quotes == [
        {
            "text": "Granite is hard.",
            "locator": {
                "char_span": [at, end],
                "start_sec": 83.5,
                "url": "https://www.youtube.com/watch?v=abc&t=83s",
            },
        }
    ]


def test_a_quote_of_a_document_names_its_page(
    library: Access, add: Add, summarizer: Scripted
) -> None:
    item = add("Paper", "First page. Second page.")
    at = item.content.text.index("Second")
    parts = [{"start": 0, "end": at, "page": 1}, {"start": at, "end": at + 12, "page": 2}]
    Content.objects.filter(pk=item.content_id).update(locators=parts, kind="pdf")
    summarizer.quotes = ("Second page.",)

    transforms.transform_item(library, item.pk)
    followups.summarize_item(str(item.pk))

    located = transform_of(item).quotes[0]["locator"]
    assert located == {"char_span": [at, at + 12], "page": 2}


@pytest.mark.parametrize(
    ("quote", "span"),
    [
        ("b c", (2, 8)),
        ("  b   c ", (2, 8)),
        ("B C", None),
        ("b (c", None),
        ("", None),
        ("d.e*", (9, 13)),
    ],
)
def test_a_quote_is_found_word_for_word_however_it_is_spaced(
    quote: str, span: tuple[int, int] | None
) -> None:
    assert span_of(quote, "a b \n\t c d.e*") == span


def test_what_may_pass_is_tried_again_and_then_told(
    library: Access, add: Add, summarizer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = add("Stone")
    transforms.transform_item(library, item.pk)
    summarizer.failure = ProviderUnavailable("Not now.", may_pass=True)

    monkeypatch.setattr(followups, "is_last_try", lambda: False)
    with pytest.raises(ProviderUnavailable):
        followups.summarize_item(str(item.pk))
    assert transform_of(item).state == "queued"

    monkeypatch.setattr(followups, "is_last_try", lambda: True)
    followups.summarize_item(str(item.pk))
    failed = transform_of(item)
    assert (failed.state, failed.error) == ("failed", "Not now.")
    assert not Usage.objects.exists()


def test_what_cannot_pass_is_told_at_once(
    library: Access, add: Add, summarizer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = add("Stone")
    transforms.transform_item(library, item.pk)
    summarizer.failure = ProviderUnavailable("Never.", may_pass=False)
    monkeypatch.setattr(followups, "is_last_try", lambda: False)

    followups.summarize_item(str(item.pk))

    assert (transform_of(item).state, transform_of(item).error) == ("failed", "Never.")


def test_a_fault_of_our_own_is_told_without_its_words(
    library: Access, add: Add, summarizer: Scripted
) -> None:
    item = add("Stone")
    transforms.transform_item(library, item.pk)
    summarizer.failure = ZeroDivisionError("secret details")

    with pytest.raises(ZeroDivisionError):
        followups.summarize_item(str(item.pk))

    failed = transform_of(item)
    assert failed.state == "failed"
    assert "secret" not in failed.error


def test_an_item_deleted_meanwhile_is_no_error(library: Access, summarizer: Scripted) -> None:
    followups.summarize_item(str(uuid4()))
    summaries.mark_failed(uuid4(), "Gone.")
    assert summarizer.calls == 0


@pytest.mark.usefixtures("without_key")
def test_without_a_key_the_ask_is_refused_and_nothing_queued(library: Access, add: Add) -> None:
    item = add("Stone")

    with pytest.raises(ProviderUnavailable, match="ANTHROPIC_API_KEY"):
        transforms.transform_item(library, item.pk)

    assert not Transform.objects.exists()
    assert queued_jobs() == []


def test_the_ask_needs_write_sight_and_a_text(library: Access, add: Add, mint: Mint) -> None:
    item = add("Stone")
    with pytest.raises(CapabilityDenied):
        transforms.transform_item(mint(write=False).access, item.pk)
    with pytest.raises(NotFound):
        transforms.transform_item(library, uuid4())
    make_unready(item)
    with pytest.raises(Conflict, match="not there yet"):
        transforms.transform_item(library, item.pk)
    assert not Transform.objects.exists()


def test_a_wish_beside_an_addition_waits_for_the_text(
    add: Add, summarizer: Scripted, owner
) -> None:
    item, other = add("Stone"), add("Other")
    content = make_unready(item)

    assert transforms.want_transform(item).state == TransformState.WAITING
    assert queued_jobs() == []
    assert summaries.transforms_due(other.content) == []

    Content.objects.filter(pk=content.pk).update(state=ContentState.READY)
    due: list[UUID] = summaries.transforms_due(content)
    assert due == [item.pk]
    assert summaries.transforms_due(content) == []
    followups.summarize_item(str(item.pk))
    assert transform_of(item).state == "done"


def test_a_wish_for_a_text_that_is_there_is_queued_with_it(add: Add) -> None:
    item = add("Stone")
    assert transforms.want_transform(item).state == "queued"
    assert queued_jobs() == [str(item.pk)]


@pytest.mark.usefixtures("without_key")
def test_a_wish_without_a_key_says_why_and_harms_nothing(add: Add) -> None:
    item = add("Stone")
    with transaction.atomic():
        transform = transforms.want_transform(item)
    assert transform.state == "failed"
    assert "ANTHROPIC_API_KEY" in transform_of(item).error
    assert queued_jobs() == []


def test_a_wish_with_a_misspelt_summarizer_says_why(add: Add, settings) -> None:
    settings.QUARRY_SUMMARIZER = "gpt"
    assert "'gpt'" in transforms.want_transform(add("Stone")).error


def test_a_job_that_comes_before_its_text_puts_the_summary_back(
    library: Access, add: Add, summarizer: Scripted
) -> None:
    item = add("Stone")
    transforms.transform_item(library, item.pk)
    make_unready(item)

    followups.summarize_item(str(item.pk))

    assert (transform_of(item).state, summarizer.calls) == ("waiting", 0)
