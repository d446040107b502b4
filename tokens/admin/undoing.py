"""The page that shows what a token wrote, and undoes it."""

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.widgets import UnfoldAdminSelectWidget  # type: ignore[import-untyped]

from knowledge.admin.base import ModelAdmin, button
from knowledge.undo import token_writes as undo
from knowledge.undo.token_writes import Undone
from tokens.forms import WINDOWS, SpanForm
from tokens.models import Token

NEEDED = ("tokens.change_token", "knowledge.change_item", "knowledge.delete_item")
SHOWN = 200


class WindowForm(forms.Form):
    """How far back to look."""

    hours = forms.ChoiceField(
        label="Show what it wrote in",
        choices=list(WINDOWS.items()),
        widget=UnfoldAdminSelectWidget,
    )


class UndoAdmin(ModelAdmin[Token]):
    """A button on a token's page that undoes what the token wrote."""

    def has_undo_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perms(NEEDED)

    @button("Undo its writes…", permissions=["undo"], url_path="undo", icon="undo")
    def undo(self, request: HttpRequest, object_id: str) -> HttpResponse:
        token = self._one(request, object_id)
        if request.method != "POST":
            return self._preview(request, token)
        asked = SpanForm(request.POST)
        if not asked.is_valid():
            return redirect("admin:tokens_token_undo", token.pk)
        done = undo.undo(token.owner_id, token.pk, **asked.cleaned_data)
        self._tell(request, token, done)
        return redirect("admin:tokens_token_change", token.pk)

    def _preview(self, request: HttpRequest, token: Token) -> HttpResponse:
        hours = request.GET.get("hours", "1")
        hours = hours if hours in WINDOWS else "1"
        until = timezone.now()
        since = until - timedelta(hours=int(hours))
        would = undo.preview(token.owner_id, token.pk, since=since, until=until)
        context = {
            **self.admin_site.each_context(request),
            "title": "Undo its writes",
            "subtitle": str(token),
            "opts": self.opts,
            "token": token,
            "would": would,
            "shown": would.undone[:SHOWN],
            "left": would.skipped[:SHOWN],
            "window": WindowForm(initial={"hours": hours}),
            "span": SpanForm(initial={"since": since.isoformat(), "until": until.isoformat()}),
        }
        return TemplateResponse(request, "admin/tokens/token/undo.html", context)

    def _tell(self, request: HttpRequest, token: Token, done: Undone) -> None:
        told = f"Undone: {len(done.undone)}."
        self.log_change(request, token, f"{told} Left: {len(done.skipped)}.")
        self.message_user(request, told, messages.SUCCESS)
        if done.skipped:
            named = "; ".join(f"{write} ({write.reason})" for write in done.skipped[:10])
            self.message_user(
                request, f"Left as they are, {len(done.skipped)}: {named}", messages.WARNING
            )

    def _one(self, request: HttpRequest, object_id: str) -> Token:
        raise NotImplementedError
