"""Which queue a job waits in, and for whom: short work never behind long work."""

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.indexing import preparing
from knowledge.ingest import contents
from knowledge.ingest.adding import add_text
from knowledge.jobs.broker import PostgresBroker
from knowledge.models import Content, Job, Upload
from tests.support.job_table import send_to_the_table
from tests.support.library import LONG_ENOUGH


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> PostgresBroker:
    return send_to_the_table(monkeypatch)


def jobs_of(owner_id: int) -> set[tuple[str, str]]:
    return set(Job.objects.filter(owner_id=owner_id).values_list("actor", "queue"))


@pytest.mark.usefixtures("broker")
def test_a_long_text_is_embedded_in_the_long_queue_and_a_note_in_the_short_one(
    library: Access, stranger: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An embedder that is too slow for the call, whatever it is given.
    monkeypatch.setattr(preparing, "prepare", lambda text, title: None)
    long = "\n\n".join(f"Paragraph {n} is about granite. {LONG_ENOUGH * 20}" for n in range(80))
    add_text(library, title="A book", text=long)
    add_text(Access.whole_library(stranger.pk), title="A note", text="granite" + LONG_ENOUGH)
    assert ("embed_item", "long") in jobs_of(library.owner_id)
    assert jobs_of(stranger.pk) == {("embed_item", "default")}


@pytest.mark.usefixtures("broker")
@pytest.mark.parametrize(("size", "queue"), [(57, "default"), (5_000_000, "long")])
def test_an_upload_waits_by_its_size(owner: User, size: int, queue: str) -> None:
    content = Content.objects.create(owner=owner, kind="pdf")
    Upload.objects.create(owner=owner, content=content, size=size, key="k", expires_at="2030-01-01")
    contents.start_job(content)
    assert jobs_of(owner.pk) == {("extract_content", queue)}


def test_what_takes_long_by_its_nature_has_the_long_queue(broker: PostgresBroker) -> None:
    queues = {name: actor.queue_name for name, actor in broker.actors.items()}
    long = {name for name, queue in queues.items() if queue == "long"}
    assert {"crawl_source", "work_import", "add_entries", "screen_item", "summarize_item"} <= long
    assert queues["transcribe_content"] == "transcription"
    short = {"deliver_webhook", "extract_content", "embed_item", "rescore_item", "poll_feed"}
    assert {queues[name] for name in short} == {"default"}
