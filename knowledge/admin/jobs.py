from dataclasses import replace

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from dramatiq.errors import DecodeError
from dramatiq.message import Message

from knowledge.admin.base import ReadOnlyAdmin, badge, pre_block
from knowledge.models import Job
from knowledge.models.job import JobState

_COLOURS = {JobState.QUEUED: "info", JobState.CLAIMED: "success", JobState.DEAD: "danger"}


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin[Job]):
    list_display = ["actor", "queue", "state_badge", "crashes", "last_line", "enqueued_at"]
    list_filter = ["state", "queue", "actor"]
    search_fields = ["actor", "error", "=id"]
    ordering = ["-enqueued_at"]
    actions = ["run_again"]
    fieldsets = [
        (None, {"fields": ["actor", "queue", "state_badge", "enqueued_at", "available_at"]}),
        ("Failure", {"fields": ["crashes", "failure"]}),
        ("Message", {"fields": ["id", "worker", "message_block"]}),
    ]

    @badge("state", _COLOURS)
    def state_badge(self, job: Job) -> str:
        return job.state

    @admin.display(description="last error")
    def last_line(self, job: Job) -> str:
        return Truncator(job.error.strip().rpartition("\n")[2]).chars(80)

    @admin.display(description="error")
    def failure(self, job: Job) -> SafeString | str:
        return pre_block(job.error)

    @admin.display(description="message")
    def message_block(self, job: Job) -> SafeString | str:
        return pre_block(job.message_text)

    def has_run_permission(self, request: HttpRequest) -> bool:
        return self.may_open(request) and request.user.has_perm("knowledge.change_job")

    @admin.action(description="Run failed jobs again", permissions=["run"])
    def run_again(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        dead = queryset.filter(state=JobState.DEAD)
        revived = sum(_revive(job) for job in dead)
        self.message_user(
            request,
            f"{revived} of {len(queryset)} jobs will run again. Only failed (dead) jobs can.",
            messages.SUCCESS if revived else messages.WARNING,
        )


def _revive(job: Job) -> bool:
    """Put a dead job back as if it had never been tried; workers look within the second."""
    try:
        message = Message.decode(bytes(job.message))
    except DecodeError:
        return False  # no worker could read it
    tried = ("retries", "traceback", "requeue_timestamp")
    options = {name: value for name, value in message.options.items() if name not in tried}
    return bool(
        Job.objects.filter(pk=job.pk, state=JobState.DEAD).update(
            state=JobState.QUEUED,
            message=replace(message, options=options).encode(),
            crashes=0,
            available_at=Now(),
        )
    )
