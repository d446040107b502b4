from django.contrib import admin

from knowledge.admin.base import ReadOnlyAdmin, badge
from tokens.models import Event


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin[Event]):
    """What tokens did, newest first."""

    _columns = ["at", "token", "owner", "edge", "action", "target", "ended", "latency_ms"]
    list_display = [*_columns]
    list_filter = [
        ("action", admin.AllValuesFieldListFilter),
        ("outcome", admin.AllValuesFieldListFilter),
        "edge",
        "at",
        "token",
    ]
    list_select_related = ["token", "owner"]
    search_fields = ["action", "outcome", "target", "=request_id", "token__name"]
    date_hierarchy = "at"
    show_full_result_count = False
    fields = [*_columns, "request_id"]

    @badge("outcome", {"ok": "success"})
    def ended(self, event: Event) -> str:
        return event.outcome
