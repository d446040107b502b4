from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.admin.base import ReadOnlyAdmin, badge
from knowledge.admin.tables import link
from knowledge.models import Content, Reservation, ReservationState, Usage

_COLOURS = {
    ReservationState.RESERVED: "info",
    ReservationState.SETTLED: "success",
    ReservationState.RETURNED: "warning",
}


@admin.register(Usage)
class UsageAdmin(ReadOnlyAdmin[Usage]):
    owner_path = "owner"
    _columns = [
        *("owner", "month_name", "minutes_used", "minutes_reserved", "transforms", "answers"),
        "answers_cost_usd",
    ]
    list_display = [*_columns]
    fields = [*_columns]
    list_filter = [("owner", admin.RelatedOnlyFieldListFilter), "month"]
    list_select_related = ["owner"]
    search_fields = ["owner__username"]
    ordering = ["-month", "owner__username"]

    @admin.display(description="month", ordering="month")
    def month_name(self, usage: Usage) -> str:
        return f"{usage.month:%B %Y}"

    @admin.display(description="minutes transcribed", ordering="transcription_sec_used")
    def minutes_used(self, usage: Usage) -> str:
        return f"{usage.transcription_sec_used / 60:,.1f}"

    @admin.display(description="minutes reserved", ordering="transcription_sec_reserved")
    def minutes_reserved(self, usage: Usage) -> str:
        return f"{usage.transcription_sec_reserved / 60:,.1f}"


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin[Reservation]):
    owner_path = "owner"
    _columns = ["owner", "month_name", "minutes", "state_badge", "content", "created_at"]
    list_display = [*_columns]
    fields = [*_columns]
    list_filter = ["state", ("owner", admin.RelatedOnlyFieldListFilter), "month"]
    list_select_related = ["owner"]
    search_fields = ["owner__username", "=content_id"]
    ordering = ["-created_at"]

    @admin.display(description="month", ordering="month")
    def month_name(self, reservation: Reservation) -> str:
        return f"{reservation.month:%B %Y}"

    @admin.display(description="minutes", ordering="seconds")
    def minutes(self, reservation: Reservation) -> str:
        return f"{reservation.seconds / 60:,.1f}"

    @badge("state", _COLOURS)
    def state_badge(self, reservation: Reservation) -> str:
        return reservation.state

    @admin.display(description="content")
    def content(self, reservation: Reservation) -> SafeString | str:
        """No relation: what was used stays on record when its content is deleted."""
        title: str | None = reservation.content_title  # type: ignore[attr-defined]
        if title is None:
            return "deleted since"
        address = reverse("admin:knowledge_content_change", args=[reservation.content_id])
        return link(address, Truncator(title or "untitled").chars(80))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Reservation]:
        titles = Content.objects.filter(pk=OuterRef("content_id")).values("title")
        return super().get_queryset(request).annotate(content_title=Subquery(titles))
