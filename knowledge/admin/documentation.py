"""Documentation sources: how far each crawl is, and what came of each page."""

from collections.abc import Iterable
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.access import Access
from knowledge.admin.base import AskAdmin, AskForm, badge, button, link_to_url, pre_block
from knowledge.admin.confirm_page import ConfirmingAdmin
from knowledge.admin.fields import LinesField
from knowledge.admin.tables import item_page, moment, table
from knowledge.crawling import documentation
from knowledge.errors import QuarryError
from knowledge.models import CrawlState, PageState, Source, SourcePage
from knowledge.models.documentation import SourceQuerySet

PAGES_SHOWN = 50
LOOK_AGAIN_SEC = 5
_COLOURS = {
    CrawlState.QUEUED: "warning",
    CrawlState.CRAWLING: "info",
    CrawlState.DONE: "success",
    CrawlState.FAILED: "danger",
}


class SourceForm(AskForm[Source]):
    include = LinesField(
        required=False,
        help_text="Only pages whose path matches one of these, one per line. * matches anything.",
    )
    exclude = LinesField(
        required=False, help_text="Leaves out pages whose path matches one of these."
    )

    class Meta:
        model = Source
        fields = [
            *("owner", "name", "start_url", "include", "exclude", "depth", "max_pages", "folder"),
        ]


@admin.register(Source)
class SourceAdmin(ConfirmingAdmin[Source], AskAdmin[Source]):
    owner_path = "owner"
    form = SourceForm
    list_display = [
        *("name", "owner", "progress", "bar", "page_progress", "last_crawl", "short_error"),
    ]
    list_filter = ["state", ("owner", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["owner"]
    search_fields = ["name", "start_url", "owner__username", "=id"]
    ordering = ["name"]
    actions = ["crawl_selected"]
    actions_detail = ["crawl"]
    change_form_outer_after_template = "admin/knowledge/source/pages.html"
    _wanted = ["name", "include", "exclude", "depth", "max_pages"]
    add_fieldsets = [(None, {"fields": ["owner", "start_url", *_wanted, "folder"]})]
    fieldsets = [
        ("Crawl", {"fields": ["how_far", "bar", "page_progress", "last_crawl", "failure"]}),
        ("Settings", {"fields": ["address", *_wanted, "folder"]}),
        ("Origin", {"fields": ["owner", "id", "added_by_agent", "created_at"]}),
    ]
    _shown = [
        *("how_far", "bar", "page_progress", "last_crawl", "failure"),
        *("address", "folder", "owner", "id", "added_by_agent", "created_at"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        found = cast(SourceQuerySet, super().get_queryset(request))
        return found.with_progress()

    @badge("state", _COLOURS)
    def progress(self, source: Source) -> tuple[str, str]:
        said = f"{source.state} {source.percent} %" if source.is_at_work else source.state
        return source.state, said

    @admin.display(description="state")
    def how_far(self, source: Source) -> str:
        return self.progress(source)[1]

    @admin.display(description="done")
    def bar(self, source: Source) -> SafeString:
        percent = source.percent if source.crawl else 0
        return format_html(
            '<progress class="quarry-bar" max="100" value="{0}">{0} %</progress>', percent
        )

    @admin.display(description="start URL")
    def address(self, source: Source) -> SafeString | str:
        return link_to_url(source.start_url)

    @admin.display(description="pages kept / found")
    def page_progress(self, source: Source) -> str:
        return f"{source.page_counts[PageState.KEPT]:,} / {source.pages_known:,}"

    @admin.display(description="last crawl", ordering="begun_at")
    def last_crawl(self, source: Source) -> str:
        if source.begun_at is None:
            return "never"
        begun = moment(source.begun_at)
        return f"{begun} to {moment(source.finished_at)}" if source.finished_at else begun

    @admin.display(description="error")
    def short_error(self, source: Source) -> str:
        return Truncator(source.error).chars(80)

    @admin.display(description="error")
    def failure(self, source: Source) -> SafeString | str:
        return pre_block(source.error)

    # Its form ---------------------------------------------------------------------------

    def has_change_permission(self, request: HttpRequest, obj: Source | None = None) -> bool:
        """Not while it is crawled: its page is then looked at again and again."""
        at_work = obj is not None and obj.is_at_work
        return not at_work and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> list[str]:
        return self._shown if obj else []

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"owner": request.user.pk, **super().get_changeform_initial_data(request)}

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        source = self.get_object(request, unquote(object_id))
        context = _pages(request, source) if source else {}
        answer = super().change_view(request, object_id, extra_context=context)
        if source and source.is_at_work:
            answer.headers["Refresh"] = str(LOOK_AGAIN_SEC)
        return answer

    def save_model(self, request: HttpRequest, obj: Source, form: forms.Form, change: bool) -> None:
        asked = form.cleaned_data
        wanted = {name: asked[name] for name in self._wanted}
        access = Access.whole_library(obj.owner_id)
        if change:
            changes = documentation.SourceChanges(**wanted)
            documentation.update_source(access, obj.pk, changes)
        else:
            folder_id = asked["folder"] and asked["folder"].pk
            start_url = asked["start_url"]
            added = documentation.add_source(
                access, start_url=start_url, folder_id=folder_id, **wanted
            )
            obj.pk = added.pk
        obj.refresh_from_db()

    def ask_to_delete(self, obj: Source) -> None:
        documentation.delete_source(Access.whole_library(obj.owner_id), obj.pk)

    def consequences(self, obj: Source) -> list[str]:
        kept = obj.pages.filter(item__isnull=False).count()
        return [f"Its pages ({kept}) stay in the library as items, and are not refreshed."]

    # Crawling ---------------------------------------------------------------------------

    def has_crawl_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perm("knowledge.change_source")

    @admin.action(description="Crawl selected sources now", permissions=["crawl"])
    def crawl_selected(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        for source in queryset:
            self._crawl(request, source)

    @button("Crawl now", permissions=["crawl"], url_path="crawl", icon="refresh")
    def crawl(self, request: HttpRequest, object_id: str) -> HttpResponse:
        source = self.one(request, object_id)
        if request.method == "POST":
            self._crawl(request, source)
            return redirect("admin:knowledge_source_change", source.pk)
        again = "Pages that have not changed are not fetched again." if source.crawl else ""
        told = [f"{source.start_url}, at most {source.max_pages} pages. {again}"]
        return self.confirm(request, f"Crawl {source}?", told=told, yes="Crawl now")

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        actions: list[Any] = super().get_actions_detail(request, object_id)  # type: ignore[misc]
        source = self.get_object(request, object_id)
        return [] if source is None or source.is_at_work else actions

    def _crawl(self, request: HttpRequest, source: Source) -> None:
        try:
            documentation.crawl_again(Access.whole_library(source.owner_id), source.pk)
        except QuarryError as refusal:
            self.message_user(request, f"{source}: {refusal.message}", messages.WARNING)
        else:
            self.log_change(request, source, "Asked for a crawl.")
            self.message_user(request, f"{source} is being crawled.", messages.SUCCESS)


def _pages(request: HttpRequest, source: Source) -> dict[str, Any]:
    """One page of a source's pages, all of them or those of one state."""
    state = request.GET.get("state", "")
    found = source.pages.select_related("item__content").defer("item__content__text")
    if state in PageState.values:
        found = found.filter(state=state)
    page = Paginator(found.order_by("depth", "url"), PAGES_SHOWN).get_page(request.GET.get("page"))
    return {
        "pages": page,
        "pages_table": _table(page.object_list),
        "chosen": state,
        "counts": [(name, count) for name, count in source.page_counts.items() if count],
    }


def _table(pages: Iterable[SourcePage]) -> SafeString:
    rows = [
        [
            link_to_url(page.url),
            page.get_state_display(),
            item_page(page.item) if page.item else "",
            ". ".join(filter(None, [page.reason, page.error])),
            page.depth,
            page.fetched_at or "",
        ]
        for page in pages
    ]
    headings = ["Address", "State", "Item", "Reason", "Depth", "Fetched"]
    return table(headings, rows, empty="No pages have been found yet.")
