"""Adding recordings: transcribed by a job for everybody who waits, and paid for by one."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge import providers
from knowledge.access import Access
from knowledge.errors import Conflict, IngestFailed, ProviderUnavailable
from knowledge.ingest import contents
from knowledge.ingest.transforms import transform_item
from knowledge.ledger import webhooks
from knowledge.library import items as shelves
from knowledge.library.editing import ItemChanges, update_item
from knowledge.models import Chunk, Content, Delivery, Item, Reservation, Transform, Usage
from knowledge.providers.fake import FakeTranscriber
from knowledge.providers.protocols import Transcript
from tests.support.adding import (
    add_link,
    rows,
    run_jobs,
    serve_episode,
    serve_recording,
    serve_unmeasured,
)
from tests.support.pages import ARTICLE, serve_page
from tests.support.searching import search


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.QUARRY_HOME = tmp_path
    return tmp_path


@pytest.fixture
def theirs(stranger: User) -> Access:
    return Access.whole_library(stranger.pk)


@pytest.fixture
def transcriber(monkeypatch: pytest.MonkeyPatch) -> FakeTranscriber:
    """The one that every job gets, to be told how to behave."""
    one = FakeTranscriber()
    monkeypatch.setitem(providers._TRANSCRIBERS, "fake", lambda: one)
    return one


def change(access: Access, item: Item, **changes: Any) -> Item:
    return update_item(access, item.pk, ItemChanges(**changes))


def used(access: Access) -> tuple[int, int]:
    """Seconds used and reserved."""
    fields = ("transcription_sec_used", "transcription_sec_reserved")
    usage = Usage.objects.filter(owner_id=access.owner_id).values_list(*fields).first()
    return usage or (0, 0)


def events() -> list[str]:
    return sorted(Delivery.objects.values_list("event", flat=True))


# The whole way ----------------------------------------------------------------------------


@pytest.mark.parametrize("is_told", [True, False], ids=["length told", "length not told"])
def test_a_recording_waits_for_its_job_and_is_then_found_by_its_seconds(
    library: Access, site: HTTPServer, is_told: bool
) -> None:
    url = serve_episode(site, told=20) if is_told else serve_unmeasured(site)
    item = add_link(library, url)
    assert (item.status, item.index_status) == ("transcribing", "pending")
    assert (item.content.state, item.content.step, item.content.percent) == (
        "queued",
        "transcribe",
        0,
    )
    assert used(library) == (0, 20 if is_told else 0)
    assert not search(library, query="granite").hits

    assert run_jobs() == ["transcribe_content", "embed_item"]
    item = shelves.get_item(library, item.pk)
    content = item.content
    assert (item.status, item.index_status, content.transcription_status) == (
        "ready",
        "done",
        "done",
    )
    assert (content.rung, content.duration_sec, float(content.cost_usd or 0)) == ("fake", 20.0, 0.0)
    assert [part["start_sec"] for part in content.locators] == [0.0, 5.0, 10.0]
    assert used(library) == (20, 0)
    third = content.text.index("Sentence 3")
    hit = search(library, query=content.text[third:], mode="keyword").hits[0]
    assert hit.locator.start_sec == 10.0
    assert hit.locator.url.endswith(".wav#t=10")


def test_a_job_that_runs_twice_changes_and_pays_nothing(library: Access, site: HTTPServer) -> None:
    item = add_link(library, serve_recording(site))
    run_jobs()
    before = Chunk.objects.get().pk, used(library)
    contents.transcribe_content.fn(str(item.content_id))
    assert (Chunk.objects.get().pk, used(library)) == before
    assert run_jobs() == []


def test_while_a_vendor_works_the_job_looks_again_and_submits_once(
    library: Access, site: HTTPServer, transcriber: FakeTranscriber
) -> None:
    transcriber.looks = 2
    item = add_link(library, serve_recording(site))
    assert run_jobs() == ["transcribe_content"] * 3 + ["embed_item"]
    assert transcriber.submissions == 1
    assert shelves.get_item(library, item.pk).status == "ready"
    assert used(library) == (20, 0)


# Those who come later ---------------------------------------------------------------------


def test_a_second_owner_waits_with_the_first_and_pays_nothing(
    library: Access, theirs: Access, site: HTTPServer, transcriber: FakeTranscriber
) -> None:
    for access in (library, theirs):
        webhooks.create_webhook(access, "https://example.org/hook")
    url = serve_episode(site)
    first, second = add_link(library, url), add_link(theirs, url, in_kb=False)
    third = add_link(theirs, url)
    assert third.pk == second.pk
    assert (third.status, third.index_status) == ("transcribing", "pending")
    assert events() == []
    assert run_jobs() == ["transcribe_content", "embed_item", "embed_item"]
    assert transcriber.submissions == 1
    assert (used(library), used(theirs)) == ((20, 0), (0, 0))
    assert events() == ["item.ready", "item.ready"]
    assert Delivery.objects.values("webhook").distinct().count() == 2

    later = add_link(Access.whole_library(User.objects.create_user("kim").pk), url)
    assert (later.status, later.index_status) == ("ready", "done")
    assert {item.content_id for item in (first, second, later)} == {first.content_id}
    assert events() == ["item.ready", "item.ready"]
    assert Chunk.objects.values("item").distinct().count() == 3


def test_who_did_not_want_it_searchable_gets_the_text_and_no_chunks(
    library: Access, site: HTTPServer
) -> None:
    item = add_link(library, serve_recording(site), in_kb=False)
    assert item.index_status == "none"
    assert run_jobs() == ["transcribe_content"]
    item = shelves.get_item(library, item.pk)
    assert (item.status, item.index_status) == ("ready", "none")
    assert item.content.text
    assert rows()["Chunk"] == 0


# Changes while it is on the way -----------------------------------------------------------


def test_leaving_and_joining_the_knowledge_base_meanwhile_is_heeded(
    library: Access, site: HTTPServer
) -> None:
    item = add_link(library, serve_recording(site))
    assert change(library, item, in_kb=False).index_status == "none"
    assert change(library, item, in_kb=True).index_status == "pending"
    assert change(library, item, in_kb=False).index_status == "none"
    run_jobs()
    assert rows()["Chunk"] == 0
    assert change(library, item, in_kb=True).index_status == "done"
    assert search(library, query="sentence").hits


def test_a_title_given_meanwhile_is_found(library: Access, site: HTTPServer) -> None:
    item = add_link(library, serve_recording(site))
    renamed = change(library, item, title="Zyzzyva at dawn")
    assert (renamed.index_status, renamed.title) == ("pending", "Zyzzyva at dawn")
    run_jobs()
    assert [hit.item.pk for hit in search(library, query="zyzzyva", mode="keyword").hits] == [
        item.pk
    ]


def test_deleting_it_meanwhile_gives_the_minutes_back_and_ends_the_job_quietly(
    library: Access, site: HTTPServer
) -> None:
    item = add_link(library, serve_episode(site))
    assert used(library) == (0, 20)
    shelves.delete_item(library, item.pk)
    assert used(library) == (0, 0)
    assert run_jobs() == ["transcribe_content"]
    assert rows() == {"Content": 0, "Item": 0, "Link": 0, "Chunk": 0}
    assert Reservation.objects.get().state == "returned"


def test_deleting_it_while_a_worker_is_at_it_ends_the_job_quietly(
    library: Access, site: HTTPServer, transcriber: FakeTranscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcribe = transcriber.transcribe

    def delete_first(*args: Any, **asked: Any) -> Transcript:
        shelves.delete_item(library, item.pk)
        return transcribe(*args, **asked)

    monkeypatch.setattr(transcriber, "transcribe", delete_first)
    item = add_link(library, serve_recording(site))
    assert run_jobs() == ["transcribe_content"]
    assert used(library) == (0, 0)
    assert not Content.objects.exists()
    assert transcriber.submissions == 0


def test_when_the_first_owner_deletes_it_the_second_still_gets_it(
    library: Access, theirs: Access, site: HTTPServer
) -> None:
    url = serve_episode(site)
    mine, other = add_link(library, url), add_link(theirs, url)
    shelves.delete_item(library, mine.pk)
    run_jobs()
    assert shelves.get_item(theirs, other.pk).status == "ready"
    assert (used(library), used(theirs)) == ((20, 0), (0, 0))


# Summaries --------------------------------------------------------------------------------


def test_a_summary_waits_for_the_transcript_and_quotes_its_seconds(
    library: Access, theirs: Access, site: HTTPServer
) -> None:
    url = serve_recording(site)
    item = add_link(library, url, auto_transform=True)
    add_link(theirs, url)
    assert item.summary is None or item.summary.state == "waiting"
    assert sorted(run_jobs()) == [
        "embed_item",
        "embed_item",
        "summarize_item",
        "transcribe_content",
    ]
    summary = Transform.objects.get()
    assert (summary.item_id, summary.state) == (item.pk, "done")
    assert [quote["locator"]["start_sec"] for quote in summary.quotes] == [0.0, 5.0]
    assert summary.quotes[1]["locator"]["url"] == f"{url}#t=5"
    assert Usage.objects.get(owner_id=library.owner_id).transforms == 1


def test_a_summary_cannot_be_asked_for_before_there_is_a_text(
    library: Access, site: HTTPServer
) -> None:
    item = add_link(library, serve_recording(site))
    with pytest.raises(Conflict, match="not there yet"):
        transform_item(library, item.pk)


# Failures ---------------------------------------------------------------------------------


def test_a_recording_that_fails_says_why_gives_back_and_is_told_once(
    library: Access, theirs: Access, site: HTTPServer, transcriber: FakeTranscriber
) -> None:
    webhooks.create_webhook(library, "https://example.org/hook")
    transcriber.failure = IngestFailed("Nobody speaks.", reason="no_speech")
    url = serve_episode(site)
    item = add_link(library, url)
    add_link(theirs, url)
    run_jobs()
    item = shelves.get_item(library, item.pk)
    assert (item.status, item.index_status, item.index_error) == (
        "failed",
        "failed",
        "Nobody speaks.",
    )
    assert (item.content.reason, item.content.error) == ("no_speech", "Nobody speaks.")
    assert used(library) == (0, 0)
    assert events() == ["item.failed"]
    contents.transcribe_content.fn(str(item.content_id))
    assert events() == ["item.failed"]


def test_changes_to_a_failed_item_leave_it_failed(
    library: Access, site: HTTPServer, transcriber: FakeTranscriber
) -> None:
    transcriber.failure = IngestFailed("Nobody speaks.", reason="no_speech")
    item = add_link(library, serve_recording(site))
    run_jobs()
    for changes in ({"title": "Silence"}, {"in_kb": False}, {"in_kb": True}):
        changed = change(library, item, **changes)
    assert (changed.title, changed.status) == ("Silence", "failed")
    assert (changed.index_status, changed.index_error) == ("failed", "Nobody speaks.")


def test_what_failed_is_fetched_anew_for_all_who_have_it(
    library: Access, theirs: Access, site: HTTPServer, transcriber: FakeTranscriber
) -> None:
    webhooks.create_webhook(library, "https://example.org/hook")
    transcriber.failure = ProviderUnavailable("Out of order.")
    url = serve_episode(site)
    first = add_link(library, url)
    run_jobs()
    transcriber.failure = None
    fetches = len(site.log)
    second = add_link(theirs, url)
    assert len(site.log) > fetches
    assert second.content_id == first.content_id
    first.refresh_from_db()
    assert (first.index_status, second.index_status) == ("pending", "pending")
    assert (used(library), used(theirs)) == ((0, 0), (0, 20))
    run_jobs()
    assert {item.index_status for item in Item.objects.all()} == {"done"}
    assert (used(library), used(theirs)) == ((0, 0), (20, 0))
    assert events() == ["item.failed", "item.ready"]


def test_what_failed_as_a_recording_may_be_a_page_by_now(
    library: Access, theirs: Access, site: HTTPServer, transcriber: FakeTranscriber
) -> None:
    transcriber.failure = IngestFailed("Nobody speaks.", reason="no_speech")
    url = serve_recording(site, "/talk")
    first = add_link(library, url, auto_transform=True)
    run_jobs()
    site.clear()
    serve_page(site, "/talk", ARTICLE)
    second = add_link(theirs, url)
    assert (second.status, second.content.kind) == ("ready", "webpage")
    assert sorted(run_jobs()) == ["embed_item", "summarize_item"]
    assert shelves.get_item(library, first.pk).index_status == "done"
    assert search(library, query="plucking").hits
    assert Content.objects.get().transcription_status == "none"


@pytest.mark.parametrize("is_told", [True, False], ids=["length told", "length not told"])
def test_who_retries_pays(
    library: Access,
    theirs: Access,
    site: HTTPServer,
    transcriber: FakeTranscriber,
    is_told: bool,
) -> None:
    transcriber.failure = ProviderUnavailable("Out of order.")
    url = serve_episode(site) if is_told else serve_recording(site)
    add_link(library, url)
    second = add_link(theirs, url)
    run_jobs()
    transcriber.failure = None
    again = shelves.retry_item(theirs, second.pk)
    assert (again.status, again.index_status) == ("transcribing", "pending")
    with pytest.raises(Conflict, match="nothing to retry"):
        shelves.retry_item(library, Item.objects.get(owner_id=library.owner_id).pk)
    run_jobs()
    assert {item.index_status for item in Item.objects.all()} == {"done"}
    assert (used(library), used(theirs)) == ((0, 0), (20, 0))


def test_a_publishers_transcript_is_taken_and_nothing_is_paid(
    library: Access, site: HTTPServer
) -> None:
    words = "WEBVTT\n\n00:07.000 --> 00:09.000\n" + "Welcome to the quarry. " * 20
    site.expect_request("/words.vtt").respond_with_data(words, content_type="text/vtt")
    offer = '<podcast:transcript url="/words.vtt" type="text/vtt"/>'
    item = add_link(library, serve_episode(site, more=offer))
    assert (item.status, item.index_status, item.content.rung) == ("ready", "done", "publisher")
    assert search(library, query="welcome").hits[0].locator.start_sec == 7.0
    assert run_jobs() == []
    assert not Reservation.objects.exists()
