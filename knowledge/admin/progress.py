"""How far the work on a content is, and another try at what failed."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from knowledge.access import Access
from knowledge.admin.base import M, ModelAdmin, button
from knowledge.errors import Conflict, QuarryError
from knowledge.library import items as library
from knowledge.models import Content, ContentState, Item

COLOURS = {
    ContentState.QUEUED: "warning",
    ContentState.WORKING: "info",
    ContentState.READY: "success",
    ContentState.FAILED: "danger",
}


def progress_of(content: Content) -> tuple[str, str]:
    """The state, for its colour, and how to say it: `transcribe 40 %` while it is at work."""
    if content.state != ContentState.WORKING:
        return content.state, content.state
    return content.state, f"{content.step} {content.percent} %"


class RetryAdmin(ModelAdmin[M]):
    """Pages of what may have failed: an action of the list, and a button that asks first."""

    actions: Any = ["retry_selected"]
    actions_detail = ["retry"]

    def item_of(self, request: HttpRequest, obj: M) -> Item | None:
        """The item whose owner asks for another try."""
        raise NotImplementedError

    def has_failed(self, obj: M) -> bool:
        raise NotImplementedError

    def has_retry_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perm(f"knowledge.change_{self.opts.model_name}")

    @admin.action(description="Try failed ones again", permissions=["retry"])
    def retry_selected(self, request: HttpRequest, queryset: QuerySet[M]) -> None:
        self._retry(request, queryset)

    @button("Try again", permissions=["retry"], url_path="retry", icon="refresh")
    def retry(self, request: HttpRequest, object_id: str) -> HttpResponse:
        obj = self.get_object(request, unquote(object_id))
        if obj is None:
            raise Http404("It is gone.")
        if request.method == "POST":
            self._retry(request, [obj])
            return redirect(f"admin:knowledge_{self.opts.model_name}_change", obj.pk)
        content = obj if isinstance(obj, Content) else getattr(obj, "content", None)
        context = {
            **self.admin_site.each_context(request),
            "title": "Try again",
            "subtitle": str(obj),
            "asked": str(obj),
            "yes": "Try again",
            "opts": self.opts,
            "content": content,
            "told": getattr(content, "error", "") or getattr(obj, "index_error", ""),
        }
        return TemplateResponse(request, "admin/knowledge/retry.html", context)

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        actions: list[Any] = super().get_actions_detail(request, object_id)  # type: ignore[misc]
        obj = self.get_object(request, object_id)
        if obj and self.has_failed(obj):
            return actions
        return [action for action in actions if action.path != "retry"]

    def _retry(self, request: HttpRequest, objs: Iterable[M]) -> None:
        begun = 0
        for obj in objs:
            try:
                _ask_again(self.item_of(request, obj))
            except QuarryError as refusal:
                self.message_user(request, f"{obj}: {refusal.message}", messages.WARNING)
            else:
                begun += 1
                self.log_change(request, obj, "Asked for another try.")
        if begun:
            told = "One item is" if begun == 1 else f"{begun} items are"
            self.message_user(request, f"{told} being tried again.", messages.SUCCESS)


def _ask_again(item: Item | None) -> None:
    if item is None:
        raise Conflict(
            "Nobody has an item with this content any more, so it cannot be tried again."
        )
    library.retry_item(Access.whole_library(item.owner_id), item.pk)
