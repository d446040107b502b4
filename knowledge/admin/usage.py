from django.contrib import admin

from knowledge.admin.base import ReadOnlyAdmin
from knowledge.models import Usage


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
