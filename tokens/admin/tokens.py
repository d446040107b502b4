from collections.abc import Collection, Iterable
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.debug import sensitive_variables
from unfold.enums import ActionVariant  # type: ignore[import-untyped]

from knowledge.admin.base import AskAdmin, badge, button
from knowledge.models import Folder
from tokens.admin.limiting import LimitsAdmin
from tokens.admin.minting import MintForm, ready_to_paste
from tokens.admin.token_view import SeeingAdmin
from tokens.admin.undoing import UndoAdmin
from tokens.hourly import write_limits
from tokens.minting import mint_token, revoke_token
from tokens.models import Token
from tokens.single_use import SentBefore

_COLOURS = {"active": "success", "expired": "warning", "revoked": "danger"}


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(state, state.capitalize()) for state in _COLOURS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Token]) -> QuerySet[Token]:
        reaches = Q(is_unscoped=True) | Exists(Folder.objects.filter(tokens=OuterRef("pk")))
        kept = Q(revoked_at=None)
        alive = Q(expires_at__gt=timezone.now())
        states = {
            "active": kept & alive & reaches,
            "expired": kept & ~alive,
            "revoked": ~kept | (alive & ~reaches),
        }
        return queryset.filter(states.get(self.value() or "", Q()))


@admin.register(Token)
class TokenAdmin(LimitsAdmin, SeeingAdmin, UndoAdmin, AskAdmin[Token]):
    """Tokens are minted and revoked: never changed, and kept for the record."""

    owner_path = "owner"
    add_form_template = "admin/tokens/token/mint.html"
    list_display = [
        *("name", "starts_with", "owner", "may", "reach", "state_badge"),
        *("expires_at", "last_used_at"),
    ]
    list_filter = [
        StateFilter,
        "can_write",
        "is_unscoped",
        "kb_only",
        ("owner", admin.RelatedOnlyFieldListFilter),
    ]
    search_fields = ["name", "agent_id", "prefix", "owner__username", "folders__name"]
    actions = ["revoke_selected"]
    actions_detail = ["sees", "activity", "limits", "undo", "revoke"]
    add_fieldsets = [
        (None, {"fields": ["owner", "name"]}),
        ("What it reaches", {"fields": ["reach", "folder_ids", "kb_only"]}),
        ("What it may do", {"fields": ["can_write", "toolsets", "expires_days"]}),
    ]
    fieldsets = [
        (None, {"fields": ["name", "owner", "starts_with", "state_badge"]}),
        ("What it reaches", {"fields": ["reach", "kb_only"]}),
        ("What it may do", {"fields": ["may", "toolsets", "own_limits", "agent_id"]}),
        ("When", {"fields": ["created_at", "expires_at", "last_used_at", "revoked_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Token]:
        tokens = super().get_queryset(request).select_related("owner")
        return tokens.prefetch_related("folders").defer("digest")

    # How a token is told ----------------------------------------------------------------

    @admin.display(description="starts with", ordering="prefix")
    def starts_with(self, token: Token) -> str:
        return f"{token.prefix}…"

    @admin.display(description="capabilities", ordering="can_write")
    def may(self, token: Token) -> str:
        return ", ".join(sorted(token.capabilities))

    @admin.display(description="reaches", ordering="is_unscoped")
    def reach(self, token: Token) -> str:
        if token.is_unscoped:
            return "whole library"
        return (
            ", ".join(folder.name for folder in token.folders.all())
            or "nothing (its folders were deleted)"
        )

    @admin.display(description="limits of its own")
    def own_limits(self, token: Token) -> str:
        return write_limits(token.limits) or "none"

    @badge("state", _COLOURS)
    def state_badge(self, token: Token) -> str:
        return token.state

    # Minting ----------------------------------------------------------------------------

    def has_change_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        return False

    def get_form(
        self, request: HttpRequest, obj: Token | None = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        if obj is None:
            kwargs["form"] = MintForm
        return super().get_form(request, obj, change, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Who asks; never a link's parameters, for a link must not choose what a token reaches."""
        return {"owner": request.user.pk}

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        try:
            return super().add_view(request, form_url, {"title": "Mint a token"})
        except SentBefore:
            self.message_user(
                request,
                "This form has already minted its token, and a secret is shown only once. "
                "If you did not copy it, revoke that token and mint another.",
                messages.WARNING,
            )
            return redirect("admin:tokens_token_changelist")

    @sensitive_variables("secret")
    def save_model(self, request: HttpRequest, obj: Token, form: forms.Form, change: bool) -> None:
        asked = cast(MintForm, form)
        token, secret = mint_token(asked.cleaned_data["owner"], asked.token_request)
        asked.spend()  # last: whatever fails rolls both back
        obj.pk = token.pk
        obj.refresh_from_db()
        obj.secret = secret  # type: ignore[attr-defined]  # lives as long as this request

    @sensitive_variables()
    def response_add(
        self, request: HttpRequest, obj: Token, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The one page that ever shows the secret."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Token minted",
            "subtitle": str(obj),
            "opts": self.opts,
            "token": obj,
            "done_url": reverse("admin:tokens_token_change", args=[obj.pk]),
            "reach": self.reach(obj),
            "may": self.may(obj),
            "snippets": ready_to_paste(request, obj.secret),  # type: ignore[attr-defined]
        }
        response = TemplateResponse(request, "admin/tokens/token/reveal.html", context)
        add_never_cache_headers(response)
        return response

    # Revoking ---------------------------------------------------------------------------

    def has_revoke_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perm("tokens.change_token")

    @admin.action(description="Revoke selected tokens", permissions=["revoke"])
    def revoke_selected(
        self, request: HttpRequest, queryset: QuerySet[Token]
    ) -> HttpResponse | None:
        if "confirmed" not in request.POST:
            return self._confirm(request, list(queryset))
        self._revoke(request, list(queryset))
        return None

    @button(
        "Revoke",
        permissions=["revoke"],
        url_path="revoke",
        icon="block",
        variant=ActionVariant.DANGER,
    )
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        token = self._one(request, object_id)
        if request.method != "POST":
            return self._confirm(request, [token])
        self._revoke(request, [token])
        return redirect("admin:tokens_token_change", token.pk)

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        actions: list[Any] = super().get_actions_detail(request, object_id)  # type: ignore[misc]
        token = self.get_object(request, object_id)
        idle = {"revoke"} if token and token.revoked_at else set()
        idle |= {"undo"} if token and not token.can_write else set()
        return [action for action in actions if action.path not in idle]

    @button("Activity", permissions=["view"], url_path="activity", icon="timeline")
    def activity(self, request: HttpRequest, object_id: str) -> HttpResponse:
        token = self._one(request, object_id)
        events = reverse("admin:tokens_event_changelist")
        return HttpResponseRedirect(f"{events}?token__id__exact={token.pk}")

    def _one(self, request: HttpRequest, object_id: str) -> Token:
        token = self.get_object(request, object_id)
        if token is None:
            raise Http404("No such token.")
        return token

    def _confirm(self, request: HttpRequest, tokens: Collection[Token]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "Revoke",
            "opts": self.opts,
            "tokens": tokens,
            "action_checkbox_name": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/tokens/token/revoke.html", context)

    def _revoke(self, request: HttpRequest, tokens: Collection[Token]) -> None:
        for token in tokens:
            revoke_token(token.owner_id, token.pk)
            self.log_change(request, token, "Revoked.")
        self.message_user(request, f"Revoked: {', '.join(map(str, tokens))}.", messages.SUCCESS)
