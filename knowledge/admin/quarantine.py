"""The queue of quarantined items, and the verdicts on them."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.admin.base import ReadOnlyAdmin, badge, pre_block
from knowledge.admin.suspicions import findings_table, suspicions
from knowledge.admin.tables import item_page, page_of, table
from knowledge.errors import QuarryError
from knowledge.models import Quarantine, Validation, Verdict
from knowledge.moderation import quarantine

SHOWN = 50
_COLOURS = {Verdict.OPEN: "warning", Verdict.RESTORED: "success", Verdict.UPHELD: "danger"}
_OPEN_FIRST = Case(
    When(verdict=Verdict.OPEN, then=Value(0)), default=Value(1), output_field=IntegerField()
)


@admin.register(Quarantine)
class QuarantineAdmin(ReadOnlyAdmin[Quarantine]):
    owner_path = "item__owner"
    names = ("quarantined item", "quarantine")
    list_display = [
        *("title", "kind", "owner", "reason", "finding_count", "reports", "verdict_badge"),
        *("at", "ruled_by"),
    ]
    list_filter = ["verdict", "reason", ("item__owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["item__custom_title", "item__content__title", "note", "=id", "=item__id"]
    change_form_outer_after_template = "admin/knowledge/quarantine/verdict.html"
    fieldsets = [
        (None, {"fields": ["item_link", "kind", "owner", "reason", "at"]}),
        ("What was found", {"fields": ["findings_told", "passages"]}),
        ("Reports", {"fields": ["report_rows"]}),
        ("Verdict", {"fields": ["verdict_badge", "ruled_by", "ruled_at", "note_block", "before"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Quarantine]:
        against = Q(item__validations__is_current=True, item__validations__valid=False)
        found = (
            super().get_queryset(request).select_related("item__content", "item__owner", "ruled_by")
        )
        light = found.defer("item__content__text", "item__content__locators")
        return light.annotate(report_count=Count("item__validations", filter=against))

    def get_ordering(self, request: HttpRequest) -> list[Any]:
        return [_OPEN_FIRST, "-at"]

    @admin.display(description="item")
    def title(self, held: Quarantine) -> str:
        return Truncator(held.item.title).chars(80)

    @admin.display(description="item")
    def item_link(self, held: Quarantine) -> SafeString:
        return item_page(held.item)

    @admin.display(description="type", ordering="item__type")
    def kind(self, held: Quarantine) -> str:
        return held.item.get_type_display()

    @admin.display(description="owner", ordering="item__owner")
    def owner(self, held: Quarantine) -> str:
        return str(held.item.owner)

    @admin.display(description="findings")
    def finding_count(self, held: Quarantine) -> int:
        return len(held.findings)

    @admin.display(description="reports", ordering="report_count")
    def reports(self, held: Quarantine) -> int:
        count: int = held.report_count  # type: ignore[attr-defined]
        return count

    @badge("verdict", _COLOURS)
    def verdict_badge(self, held: Quarantine) -> str:
        return held.verdict

    @admin.display(description="found by the screening")
    def findings_told(self, held: Quarantine) -> SafeString:
        return findings_table(held.findings, empty="Nothing: agents reported it.")

    @admin.display(description="in its words")
    def passages(self, held: Quarantine) -> SafeString:
        return suspicions(held.item)

    @admin.display(description="judged not valid by")
    def report_rows(self, held: Quarantine) -> SafeString:
        against = Validation.objects.filter(item=held.item, valid=False).order_by("-at")[:SHOWN]
        rows = [
            [said.agent_id, said.feedback, "" if said.is_current else "replaced since", said.at]
            for said in against
        ]
        return table(["Agent", "Feedback", "", "At"], rows, empty="Nobody has reported it.")

    @admin.display(description="note")
    def note_block(self, held: Quarantine) -> SafeString | str:
        return pre_block(held.note)

    @admin.display(description="other times")
    def before(self, held: Quarantine) -> SafeString:
        others = held.item.quarantines.exclude(pk=held.pk)
        rows = [
            [
                page_of(each, each.get_verdict_display()),
                each.get_reason_display(),
                each.note,
                each.at,
            ]
            for each in others
        ]
        return table(["Verdict", "Reason", "Note", "Since"], rows, empty="It was held back once.")

    # Ruling -----------------------------------------------------------------------------

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        may_rule = request.user.has_perm("knowledge.change_quarantine")
        context = {"may_rule": may_rule, "longest_note": quarantine.MAX_NOTE}
        return super().change_view(request, object_id, extra_context=context)

    def get_urls(self) -> list[URLPattern]:
        rule = path(
            "<path:object_id>/rule/",
            self.admin_site.admin_view(self.rule),
            name="knowledge_quarantine_rule",
        )
        return [rule, *super().get_urls()]

    def rule(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take the verdict that was sent; the ask refuses who may not rule."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        held = self.get_object(request, unquote(object_id))
        if held is None:
            raise Http404("It is gone.")
        if not isinstance(request.user, User):
            raise PermissionDenied
        verdict, note = request.POST.get("verdict", ""), request.POST.get("note", "")
        try:
            quarantine.rule(request.user, held.pk, verdict, note.replace("\r\n", "\n"))
        except QuarryError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
        else:
            self.log_change(request, held, f"Ruled: {verdict}. {note}".strip())
            self.message_user(request, f"{held.item.title}: {verdict}.", messages.SUCCESS)
        return redirect("admin:knowledge_quarantine_change", held.pk)
