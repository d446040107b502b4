"""The page that shows what a token can see, and searches as it would."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from knowledge.admin.base import ModelAdmin, button
from knowledge.errors import QuarryError
from knowledge.retrieval.search import MAX_QUERY, MODES, Answer, LibrarySearchRequest, search
from tokens.identity import asks_open_to
from tokens.models import Token, Toolset
from tokens.own_tokens import sight_of

HITS = 10
NEEDED = ("tokens.view_token", "knowledge.view_item")


class SearchForm(forms.Form):
    query = forms.CharField(label="Query", max_length=MAX_QUERY, widget=UnfoldAdminTextInputWidget)
    mode = forms.ChoiceField(
        label="Mode",
        choices=[(mode, mode.capitalize()) for mode in reversed(MODES)],
        widget=UnfoldAdminSelectWidget,
    )


class SeeingAdmin(ModelAdmin[Token]):
    """A button on a token's page that shows the library as the token sees it."""

    def has_see_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perms(NEEDED)

    @button("What it can see", permissions=["see"], url_path="sees", icon="visibility")
    def sees(self, request: HttpRequest, object_id: str) -> HttpResponse:
        token = self._one(request, object_id)
        is_active = token.state == "active"
        form = SearchForm(request.POST if request.method == "POST" else None)
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": "What it can see",
            "subtitle": str(token),
            "opts": self.opts,
            "object": token,
            "token": token,
            "is_active": is_active,
            "sight": sight_of(token.access) if is_active else None,
            "toolsets": [Toolset(name).label for name in token.toolsets],
            "asks": sorted(asks_open_to(token)),
            "form": form,
        }
        if is_active and form.is_valid():
            context |= self._search(request, token, **form.cleaned_data)
        return TemplateResponse(request, "admin/tokens/token/sees.html", context)

    def _search(
        self, request: HttpRequest, token: Token, *, query: str, mode: str
    ) -> dict[str, Any]:
        """What the token would find; on record as the person's act, not as the token's."""
        self.log_change(request, token, "Searched as this token.")
        try:
            asked = LibrarySearchRequest(query=query, mode=mode, limit=HITS)
            answer: Answer = search(token.access, asked)
        except QuarryError as refusal:
            return {"refusal": refusal.message}
        return {"answer": answer}

    def _one(self, request: HttpRequest, object_id: str) -> Token:
        raise NotImplementedError
