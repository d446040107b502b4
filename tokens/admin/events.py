from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.views import ChangeList  # type: ignore[import-untyped]

from knowledge.admin.base import ReadOnlyAdmin, badge
from knowledge.admin.tables import item_page
from knowledge.models import Item
from tokens.models import Event

Targets = dict[tuple[int, str], Item]


class EventList(ChangeList):  # type: ignore[misc]
    """A page of the record, with the items that its calls were about looked up at once."""

    result_list: list[Any]

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = shown = list(self.result_list)
        targets = items_aimed_at(shown)
        for event in shown:
            event.targets = targets


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin[Event]):
    """What tokens did, newest first."""

    owner_path = "owner"
    names = ("call", "activity")

    _columns = ["at", "token", "owner", "edge", "action", "aim", "outcome_badge", "latency_text"]
    list_display = [*_columns]
    list_filter = [
        ("action", admin.AllValuesFieldListFilter),
        ("outcome", admin.AllValuesFieldListFilter),
        "edge",
        "at",
        ("token", admin.RelatedOnlyFieldListFilter),
    ]
    list_select_related = ["token", "owner"]
    search_fields = ["action", "outcome", "target", "=request_id", "token__name"]
    search_help_text = "An action, an outcome, a token's name, or the id of an item or a request"
    date_hierarchy = "at"
    show_full_result_count = False
    fields = [*_columns, "request_id"]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[EventList]:
        return EventList

    @badge("outcome", {"ok": "success"})
    def outcome_badge(self, event: Event) -> str:
        return event.outcome

    @admin.display(description="target")
    def aim(self, event: Event) -> SafeString | str:
        targets = getattr(event, "targets", None)
        targets = items_aimed_at([event]) if targets is None else targets
        item = targets.get((event.owner_id, event.target))
        return item_page(item) if item else event.target

    @admin.display(description="latency", ordering="latency_ms")
    def latency_text(self, event: Event) -> str:
        return f"{event.latency_ms:,} ms"


def items_aimed_at(events: Collection[Event]) -> Targets:
    """The items that calls were about, each only for its owner: anybody may ask for any id."""
    named = {target for event in events if (target := _as_uuid(event.target))}
    owners = {event.owner_id for event in events}
    items = Item.objects.filter(pk__in=named, owner__in=owners).select_related("content")
    light = items.defer("content__text", "content__locators")
    return {(item.owner_id, str(item.pk)): item for item in light}


def _as_uuid(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None
