"""Invitations in the admin, and no pages for what the libraries keep for themselves."""

from typing import Any

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.generic import RedirectView
from oauth2_provider import models as oauth

from accounts.invitations import LIVES_DAYS, MOST_DAYS, invite, mail_link
from accounts.models import Invitation
from knowledge.admin.base import ModelAdmin
from tokens.models import Grant

for model in (
    *(EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken, UserSession),
    *(oauth.Application, oauth.AccessToken, oauth.RefreshToken, oauth.IDToken),
    *(oauth.DeviceGrant, Grant),
):
    if admin.site.is_registered(model):
        admin.site.unregister(model)

# One way in and one form for a new password, with their limits, for the admin too.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
admin.site.password_change = RedirectView.as_view(  # type: ignore[assignment,method-assign]
    pattern_name="account_change_password"
)


class InviteForm(forms.ModelForm):  # type: ignore[type-arg]
    """Whom a link is for. The link itself is shown once, on the page after."""

    days = forms.IntegerField(
        label="Works for days", initial=LIVES_DAYS, min_value=1, max_value=MOST_DAYS
    )

    class Meta:
        model = Invitation
        fields = ["email", "is_admin", "person"]
        help_texts = {
            "email": "Optional. The link is mailed there too, if a mail server is set up.",
            "is_admin": "Admins can open this admin and do everything in it.",
        }

    def clean_person(self) -> User | None:
        person: User | None = self.cleaned_data["person"]
        if person and not person.is_active:
            raise forms.ValidationError("This account is switched off.")
        return person


@admin.register(Invitation)
class InvitationAdmin(ModelAdmin[Invitation]):
    """One-time links. For superusers, since a link can make another one."""

    names = ("invitation", "invitations")
    list_display = ["__str__", "person", "is_admin", "state", "made_by", "created_at", "expires_at"]
    fields = ["email", "is_admin", "person", "state", "made_by", "created_at", "expires_at"]
    readonly_fields = ["state", "made_by", "created_at", "expires_at"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields if obj else ["email", "is_admin", "person", "days"]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        if obj is None:
            kwargs["form"] = InviteForm
        return super().get_form(request, obj, change, **kwargs)

    def save_model(
        self, request: HttpRequest, obj: Invitation, form: forms.Form, change: bool
    ) -> None:
        asked = form.cleaned_data
        made_by = request.user if isinstance(request.user, User) else None
        invitation, path = invite(
            made_by,
            email=asked["email"],
            is_admin=asked["is_admin"],
            person=asked["person"],
            days=asked["days"],
        )
        obj.pk = invitation.pk
        obj.refresh_from_db()
        obj.link = request.build_absolute_uri(path)  # type: ignore[attr-defined]  # this once
        link: str = obj.link  # type: ignore[attr-defined]
        if invitation.email and not mail_link(invitation.email, link):
            told = "It was not mailed; hand it over yourself."
            self.message_user(request, told, messages.WARNING)

    def response_add(
        self, request: HttpRequest, obj: Invitation, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The one page that ever shows the link."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Invitation made",
            "opts": self.opts,
            "done_url": reverse("admin:accounts_invitation_changelist"),
            "snippets": [{"id": "link", "title": "The link", "text": obj.link}],  # type: ignore[attr-defined]
        }
        response = TemplateResponse(request, "admin/accounts/reveal.html", context)
        response["Cache-Control"] = "no-store"
        return response
