from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from knowledge.admin.base import ReadOnlyAdmin, badge
from knowledge.models import Reservation, ReservationState, Usage

_COLOURS = {
    ReservationState.RESERVED: "info",
    ReservationState.SETTLED: "success",
    ReservationState.RETURNED: "warning",
}


@admin.register(Usage)
class UsageAdmin(ReadOnlyAdmin[Usage]):
    _columns = ["owner", "shown_month", "minutes_used", "minutes_reserved", "transforms"]
    list_display = [*_columns]
    fields = [*_columns]
    list_filter = [("owner", admin.RelatedOnlyFieldListFilter), "month"]
    list_select_related = ["owner"]
    search_fields = ["owner__username"]
    ordering = ["-month", "owner__username"]

    @admin.display(description="month", ordering="month")
    def shown_month(self, usage: Usage) -> str:
        return f"{usage.month:%B %Y}"

    @admin.display(description="minutes transcribed", ordering="transcription_sec_used")
    def minutes_used(self, usage: Usage) -> str:
        return f"{usage.transcription_sec_used / 60:,.1f}"

    @admin.display(description="minutes reserved", ordering="transcription_sec_reserved")
    def minutes_reserved(self, usage: Usage) -> str:
        return f"{usage.transcription_sec_reserved / 60:,.1f}"


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin[Reservation]):
    _columns = ["owner", "shown_month", "minutes", "shown_state", "content", "created_at"]
    list_display = [*_columns]
    fields = [*_columns]
    list_filter = ["state", ("owner", admin.RelatedOnlyFieldListFilter), "month"]
    list_select_related = ["owner"]
    search_fields = ["owner__username", "=content_id"]
    ordering = ["-created_at"]

    @admin.display(description="month", ordering="month")
    def shown_month(self, reservation: Reservation) -> str:
        return f"{reservation.month:%B %Y}"

    @admin.display(description="minutes", ordering="seconds")
    def minutes(self, reservation: Reservation) -> str:
        return f"{reservation.seconds / 60:,.1f}"

    @badge("state", _COLOURS)
    def shown_state(self, reservation: Reservation) -> str:
        return reservation.state

    @admin.display(description="content")
    def content(self, reservation: Reservation) -> SafeString:
        """No relation: what was used stays on record when its content is deleted."""
        address = reverse("admin:knowledge_content_change", args=[reservation.content_id])
        return format_html('<a class="text-link" href="{}">{}</a>', address, reservation.content_id)
