from datetime import timedelta

import dramatiq
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from knowledge.jobs.broker import broker_for
from knowledge.jobs.stuck_rows import (
    contents_of_dead_jobs,
    items_of_dead_jobs,
    stuck_contents,
    stuck_items,
)
from knowledge.models import Content, Item, Job

LONG = timedelta(minutes=11)


@pytest.mark.parametrize(
    ("state", "idle", "is_stuck"),
    [
        ("queued", LONG, True),
        ("working", LONG, True),
        ("queued", timedelta(minutes=9), False),
        ("ready", LONG, False),
        ("failed", LONG, False),
    ],
)
def test_a_content_that_waits_for_nobody_is_stuck(
    owner: User, state: str, idle: timedelta, is_stuck: bool
) -> None:
    content = _content(owner, state, idle)
    assert stuck_contents() == ([content.pk] if is_stuck else [])


@pytest.mark.parametrize("job_state", ["queued", "dead"])
def test_a_content_with_a_job_is_not_stuck(owner: User, job_state: str) -> None:
    content = _content(owner, "working")
    _job(content.pk, job_state)
    Job.objects.create(queue="default", actor="broken", message=b"not json")
    assert stuck_contents() == []


def test_the_content_that_waits_longest_comes_first(owner: User) -> None:
    later, sooner = _content(owner, "queued"), _content(owner, "queued", 2 * LONG)
    assert stuck_contents() == [sooner.pk, later.pk]


@pytest.mark.parametrize(
    ("index_status", "content_state", "idle", "is_stuck"),
    [
        ("keyword", "ready", LONG, True),
        ("pending", "ready", LONG, True),
        ("pending", "working", LONG, False),
        ("done", "ready", LONG, False),
        ("failed", "ready", LONG, False),
        ("keyword", "ready", timedelta(minutes=9), False),
    ],
)
def test_an_item_whose_vectors_nobody_makes_is_stuck(
    owner: User, index_status: str, content_state: str, idle: timedelta, is_stuck: bool
) -> None:
    item = _item(owner, index_status, content_state, idle)
    assert stuck_items() == ([item.pk] if is_stuck else [])


def test_an_item_with_a_job_is_not_stuck(owner: User) -> None:
    _job(_item(owner, "keyword").pk, "queued")
    assert stuck_items() == []


def test_what_waits_for_a_dead_job_is_given_up_with_its_error(owner: User) -> None:
    content, item = _content(owner, "working"), _item(owner, "keyword")
    for pk in (content.pk, item.pk):
        _job(pk, "dead")
    assert contents_of_dead_jobs() == {content.pk: "It killed five workers."}
    assert items_of_dead_jobs() == {item.pk: "It killed five workers."}


def test_what_has_been_begun_again_after_a_dead_job_is_not_given_up(owner: User) -> None:
    content = _content(owner, "queued")
    _job(content.pk, "dead")
    _job(content.pk, "queued")
    assert contents_of_dead_jobs() == {}


def test_dead_jobs_from_before_a_change_to_a_server_give_nothing_up(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    _job(_content(owner, "working").pk, "dead")
    monkeypatch.setattr("dramatiq.broker.global_broker", broker_for("redis://127.0.0.1"))
    assert contents_of_dead_jobs() == {}


def test_what_failed_in_the_ordinary_way_is_not_given_up_again(owner: User) -> None:
    _job(_content(owner, "failed").pk, "dead")
    assert contents_of_dead_jobs() == {}


# Means -----------------------------------------------------------------------------------


def _content(owner: User, state: str, idle: timedelta = LONG) -> Content:
    content = Content.objects.create(owner=owner, title="A talk", text="", state=state)
    Content.objects.filter(pk=content.pk).update(changed_at=timezone.now() - idle)
    return content


def _item(
    owner: User, index_status: str, content_state: str = "ready", idle: timedelta = LONG
) -> Item:
    content = _content(owner, content_state, timedelta(0))
    item = Item.objects.create(owner=owner, content=content, index_status=index_status)
    Item.objects.filter(pk=item.pk).update(updated_at=timezone.now() - idle)
    return item


def _job(pk: object, state: str) -> None:
    Job.objects.create(
        queue="default",
        actor="ingest",
        message=dramatiq.Message("default", "ingest", (str(pk),), {}, {}).encode(),
        state=state,
        error="It killed five workers." if state == "dead" else "",
    )
