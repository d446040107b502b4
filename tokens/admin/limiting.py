"""The page that gives a token limits of its own."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminTextareaWidget  # type: ignore[import-untyped]

from knowledge.admin.base import ModelAdmin, button
from knowledge.asks import Ask
from tokens.hourly import parse_limits, write_limits
from tokens.limits import limit_of
from tokens.models import Token


class LimitsForm(forms.Form):
    """Calls an hour, one ask to a line."""

    limits = forms.CharField(
        label="Limits of its own",
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 6}),
        help_text="Calls an hour, one to a line, such as add=120. "
        "What is not named has the server's limit.",
    )

    def clean_limits(self) -> dict[str, int]:
        try:
            return parse_limits(self.cleaned_data["limits"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


class LimitsAdmin(ModelAdmin[Token]):
    """A button on a token's page that sets how many calls an hour it has."""

    def has_limit_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perm("tokens.change_token")

    @button("Limits…", permissions=["limit"], url_path="limits", icon="speed")
    def limits(self, request: HttpRequest, object_id: str) -> HttpResponse:
        token = self._one(request, object_id)
        lines = write_limits(token.limits).replace(", ", "\n")
        form = LimitsForm(request.POST or None, initial={"limits": lines})
        if request.method != "POST" or not form.is_valid():
            return self._limits_page(request, token, form)
        Token.objects.filter(pk=token.pk).update(limits=form.cleaned_data["limits"])
        told = write_limits(form.cleaned_data["limits"]) or "none of its own"
        self.log_change(request, token, f"Limits: {told}.")
        self.message_user(request, f"Limits: {told}.", messages.SUCCESS)
        return redirect("admin:tokens_token_change", token.pk)

    def _limits_page(self, request: HttpRequest, token: Token, form: LimitsForm) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "Limits",
            "subtitle": str(token),
            "opts": self.opts,
            "token": token,
            "form": form,
            "limits": [(ask, limit_of(token, ask)) for ask in sorted(Ask)],
        }
        return TemplateResponse(request, "admin/tokens/token/limits.html", context)

    def _one(self, request: HttpRequest, object_id: str) -> Token:
        raise NotImplementedError
