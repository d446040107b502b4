"""A page that says what a button will do, and does it when it is sent."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from knowledge.admin.base import M, ModelAdmin


class ConfirmingAdmin(ModelAdmin[M]):
    """Buttons that write are sent by a form, and ask first."""

    def confirm(
        self, request: HttpRequest, asked: str, *, told: Sequence[str], yes: str
    ) -> HttpResponse:
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": yes,
            "opts": self.opts,
            "asked": asked,
            "told": told,
            "yes": yes,
        }
        return TemplateResponse(request, "admin/knowledge/confirm.html", context)

    def one(self, request: HttpRequest, object_id: str) -> M:
        obj = self.get_object(request, unquote(object_id))
        if obj is None:
            raise Http404("It no longer exists.")
        return obj
