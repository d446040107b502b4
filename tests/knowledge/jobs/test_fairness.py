"""Which queue a job waits in, and for whom: short work never behind long work."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from knowledge.ingest import contents, followups
from knowledge.jobs.broker import PostgresBroker
from knowledge.models import Content, Job, Upload
from tests.support.job_table import send_to_the_table
from tests.support.library import Add


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> PostgresBroker:
    return send_to_the_table(monkeypatch)


def jobs_of(owner_id: int) -> set[tuple[str, str]]:
    return set(Job.objects.filter(owner_id=owner_id).values_list("actor", "queue"))


@pytest.mark.usefixtures("broker")
@pytest.mark.parametrize(("chunks", "queue"), [(1, "default"), (400, "long")])
def test_a_note_is_embedded_before_a_book(add: Add, owner: User, chunks: int, queue: str) -> None:
    item = add("Granite")
    item.chunk_count = chunks
    followups.send_embedding(item)
    assert jobs_of(owner.pk) == {("embed_item", queue)}


@pytest.mark.usefixtures("broker")
@pytest.mark.parametrize(("size", "queue"), [(57, "default"), (5_000_000, "long")])
def test_an_upload_waits_by_its_size(owner: User, size: int, queue: str) -> None:
    content = Content.objects.create(owner=owner, kind="pdf")
    now = timezone.now()
    Upload.objects.create(owner=owner, content=content, size=size, key="k", expires_at=now)
    contents.start_job(content)
    assert jobs_of(owner.pk) == {("extract_content", queue)}


def test_what_takes_long_by_its_nature_has_the_long_queue(broker: PostgresBroker) -> None:
    queues = {name: actor.queue_name for name, actor in broker.actors.items()}
    long = {name for name, queue in queues.items() if queue == "long"}
    assert {"crawl_source", "work_import", "add_entries", "screen_item", "summarize_item"} <= long
    assert queues["transcribe_content"] == "transcription"
    short = {"deliver_webhook", "extract_content", "embed_item", "rescore_item", "poll_feed"}
    assert {queues[name] for name in short} == {"default"}
