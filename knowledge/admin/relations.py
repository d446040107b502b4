"""Relations between items: looked at, made and ended by the asks that agents use."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.safestring import SafeString

from knowledge.access import Access
from knowledge.admin.base import AskAdmin, AskForm, badge, button
from knowledge.admin.confirm_page import ConfirmingAdmin
from knowledge.admin.tables import item_page, table
from knowledge.errors import QuarryError
from knowledge.memory import relations
from knowledge.models import Item, Relation

SHOWN = 100
_COLOURS = {"in force": "success", "to come": "info", "ended": "warning"}
_SEEN_FROM_ITS_TARGET = {
    "supersedes": "superseded by",
    "contradicts": "contradicted by",
    "requires": "required by",
    "supports": "supported by",
    "decides": "decided by",
    "depends_on": "waited for by",
    "belongs_to": "holds",
    "derived_from": "led to",
}


def relations_table(item: Item) -> SafeString:
    """What an item is related to, in both directions, those in force first."""
    rows = _relation_rows(item)
    return table(
        ["Relation", "Item", "Type", "Weight", "State", "Since"],
        rows,
        empty="It has no relations.",
    )


def _relation_rows(item: Item) -> Iterator[list[object]]:
    both = Q(source=item) | Q(target=item)
    found = _with_titles(Relation.objects.filter(both)).order_by("valid_until", "-valid_from")
    for relation in found[:SHOWN]:
        outward = relation.source_id == item.pk
        other = relation.target if outward else relation.source
        yield [
            _phrase(relation, outward=outward),
            item_page(other),
            other.get_type_display(),
            f"{relation.weight:.2f}",
            _state(relation),
            f"{relation.valid_from:%Y-%m-%d}",
        ]


def _phrase(relation: Relation, *, outward: bool) -> str:
    said = relation.type if outward else _SEEN_FROM_ITS_TARGET.get(relation.type, relation.type)
    return said.replace("_", " ")


def _state(relation: Relation) -> str:
    now = timezone.now()
    if relation.valid_until and relation.valid_until <= now:
        return "ended"
    return "to come" if relation.valid_from > now else "in force"


def _with_titles(found: QuerySet[Relation]) -> QuerySet[Relation]:
    heavy = ("text", "locators")
    return found.select_related("owner", "source__content", "target__content").defer(
        *(f"{end}__content__{name}" for end in ("source", "target") for name in heavy)
    )


class RelationForm(AskForm[Relation]):
    class Meta:
        model = Relation
        fields = ["source", "type", "target", "weight"]


@admin.register(Relation)
class RelationAdmin(ConfirmingAdmin[Relation], AskAdmin[Relation]):
    owner_path = "owner"
    form = RelationForm
    list_display = ["from_item", "type", "to_item", "owner", "weight", "state", "valid_from"]
    list_display_links = ["type"]
    list_filter = ["type", ("owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = [
        *("source__custom_title", "source__content__title"),
        *("target__custom_title", "target__content__title"),
        *("=id", "=source__id", "=target__id"),
    ]
    search_help_text = "Words from either title, or an id"
    ordering = ["-created_at"]
    autocomplete_fields = ["source", "target"]
    actions = ["end_selected"]
    actions_detail = ["end"]
    add_fieldsets = [(None, {"fields": ["source", "type", "target", "weight"]})]
    fieldsets = [
        (None, {"fields": ["from_item", "type", "to_item", "weight", "owner"]}),
        ("When", {"fields": ["state", "valid_from", "valid_until", "created_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Relation]:
        return _with_titles(super().get_queryset(request))

    @admin.display(description="from", ordering="source__content__title")
    def from_item(self, relation: Relation) -> SafeString:
        return item_page(relation.source)

    @admin.display(description="to", ordering="target__content__title")
    def to_item(self, relation: Relation) -> SafeString:
        return item_page(relation.target)

    @badge("state", _COLOURS)
    def state(self, relation: Relation) -> str:
        return _state(relation)

    def has_change_permission(self, request: HttpRequest, obj: Relation | None = None) -> bool:
        return False  # one is ended and another made: what held stays on record

    def has_delete_permission(self, request: HttpRequest, obj: Relation | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: Relation, form: forms.Form, change: Any
    ) -> None:
        made = relations.relate(
            Access.whole_library(obj.source.owner_id),
            obj.source_id,
            obj.target_id,
            type=obj.type,
            weight=obj.weight,
        )
        obj.pk = made.pk
        obj.refresh_from_db()

    # Ending -----------------------------------------------------------------------------

    def has_end_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perm("knowledge.delete_relation")

    @admin.action(description="End selected relations", permissions=["end"])
    def end_selected(self, request: HttpRequest, queryset: QuerySet[Relation]) -> None:
        for relation in queryset:
            self._end(request, relation)

    @button("End", permissions=["end"], url_path="end", icon="event_busy")
    def end(self, request: HttpRequest, object_id: str) -> HttpResponse:
        relation = self.one(request, object_id)
        if request.method == "POST":
            self._end(request, relation)
            return redirect("admin:knowledge_relation_change", relation.pk)
        asked = f"{relation.source} {_phrase(relation, outward=True)} {relation.target}"
        told = ["The relation ends now. It stays on record as ended."]
        return self.confirm(request, asked, told=told, yes="End")

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        relation = self.get_object(request, object_id)
        if relation is None or _state(relation) == "ended":
            return []
        actions: list[Any] = super().get_actions_detail(request, object_id)  # type: ignore[misc]
        return actions

    def _end(self, request: HttpRequest, relation: Relation) -> None:
        try:
            relations.unrelate(Access.whole_library(relation.owner_id), relation.pk)
        except QuarryError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
        else:
            self.log_change(request, relation, "Ended.")
            self.message_user(request, "The relation has ended.", messages.SUCCESS)
