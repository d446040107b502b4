from uuid import uuid4

from django.test import Client
from django.urls import reverse
from dramatiq.message import Message

from knowledge.models import Job
from knowledge.models.job import JobState

LIST = "admin:knowledge_job_changelist"


def job(state: JobState) -> Job:
    job_id = uuid4()
    message: Message[None] = Message(
        queue_name="default",
        actor_name="embed_item",
        args=("some id",),
        kwargs={},
        options={"retries": 8, "traceback": "…", "max_age": 5},
        message_id=str(job_id),
    )
    return Job.objects.create(
        id=job_id,
        queue="default",
        actor="embed_item",
        message=message.encode(),
        state=state,
        worker=7 if state == JobState.CLAIMED else None,
        crashes=3,
        error="It failed.",
    )


def test_a_dead_job_runs_again_as_if_never_tried(admin_client: Client) -> None:
    dead, claimed = job(JobState.DEAD), job(JobState.CLAIMED)
    chosen = {"action": "run_again", "_selected_action": [dead.pk, claimed.pk]}
    page = admin_client.post(reverse(LIST), chosen, follow=True).content.decode()
    assert "1 of 2 jobs will run again" in page
    dead.refresh_from_db()
    claimed.refresh_from_db()
    assert (dead.state, dead.crashes) == (JobState.QUEUED, 0)
    assert Message.decode(bytes(dead.message)).options == {"max_age": 5}
    assert Message.decode(bytes(dead.message)).message_id == str(dead.pk)
    assert (claimed.state, claimed.worker, claimed.crashes) == (JobState.CLAIMED, 7, 3)


def test_a_message_that_nobody_can_read_stays_dead(admin_client: Client) -> None:
    dead = job(JobState.DEAD)
    Job.objects.update(message=b"\xff not a message")
    chosen = {"action": "run_again", "_selected_action": [dead.pk]}
    page = admin_client.post(reverse(LIST), chosen, follow=True).content.decode()
    assert "0 of 1 jobs" in page
    assert Job.objects.get().state == JobState.DEAD
