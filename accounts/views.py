"""The pages of one's own account that allauth does not bring."""

from typing import Any, cast

from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django_ratelimit.core import is_ratelimited

from accounts.forms import AcceptForm, MintForm, ResetForm
from accounts.invitations import accept, find_open
from knowledge.errors import InvalidInput, NotFound, QuarryError
from tokens.minting import mint_token, revoke_token
from tokens.models import Token
from tokens.oauth import connections
from tokens.single_use import SentBefore

_TRIES = "60/h"


@method_decorator(sensitive_post_parameters("password"), name="dispatch")
class InvitationView(View):
    """Where a one-time link leads."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if is_ratelimited(request, group="invitations", key="ip", rate=_TRIES, increment=True):
            problem = "Too many tries from this address; wait an hour."
            return render(request, "accounts/message.html", {"problem": problem}, status=429)
        try:
            return super().dispatch(request, *args, **kwargs)
        except NotFound as error:
            context = {"problem": error.message}
            return render(request, "accounts/message.html", context, status=404)

    def get(self, request: HttpRequest, secret: str) -> HttpResponse:
        invitation = find_open(secret)
        return self._form(request, ResetForm() if invitation.person else AcceptForm())

    @sensitive_variables("asked")
    def post(self, request: HttpRequest, secret: str) -> HttpResponse:
        invitation = find_open(secret)
        form = (ResetForm if invitation.person else AcceptForm)(request.POST)
        if not form.is_valid():
            return self._form(request, form, status=422)
        asked = form.cleaned_data
        try:
            person = accept(secret, username=asked.get("username", ""), password=asked["password"])
        except InvalidInput as error:
            field = str(error.details.get("field"))
            form.add_error(field if field in form.fields else None, error.message)
            return self._form(request, form, status=422)
        login(request, person, backend="django.contrib.auth.backends.ModelBackend")
        return redirect("console:library")

    def _form(self, request: HttpRequest, form: AcceptForm, *, status: int = 200) -> HttpResponse:
        context = {"form": form, "is_reset": isinstance(form, ResetForm)}
        return render(request, "accounts/invitation.html", context, status=status)


@method_decorator(login_required, name="dispatch")
class HomeView(View):
    """One's own tokens and connections, and the way to everything else about the account."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request, MintForm(person=_person(request)))

    @sensitive_variables("secret")
    def post(self, request: HttpRequest) -> HttpResponse:
        form = MintForm(request.POST, person=_person(request))
        if not form.is_valid():
            return self._page(request, form, status=422)
        try:
            with transaction.atomic():
                token, secret = mint_token(_person(request), form.token_request)
                form.spend()  # last: whatever fails rolls both back
        except SentBefore:
            form.add_error(None, "This form was used before. Open the page anew.")
            return self._page(request, form, status=409)
        except QuarryError as error:
            form.add_error(None, error.message)
            return self._page(request, form, status=422)
        address = request.build_absolute_uri("/mcp")
        context = {"token": token, "secret": secret, "address": address}
        return render(request, "accounts/minted.html", context)

    def _page(self, request: HttpRequest, form: MintForm, *, status: int = 200) -> HttpResponse:
        mine = Token.objects.of_owner(_person(request).pk).select_related("client")
        tokens = list(mine.prefetch_related("folders"))
        alive = [token for token in tokens if token.state == "active"]
        context = {
            "connections": [token for token in alive if token.client_id],
            "tokens": [token for token in alive if not token.client_id],
            "form": form,
            "address": request.build_absolute_uri("/mcp"),
        }
        return render(request, "accounts/home.html", context, status=status)


@method_decorator(login_required, name="dispatch")
class RevokeView(View):
    """Ends one of one's own tokens or connections."""

    def post(self, request: HttpRequest, token_id: Any) -> HttpResponse:
        person = _person(request)
        try:
            revoke_token(person.pk, token_id)
        except NotFound as error:
            context = {"problem": error.message}
            return render(request, "accounts/message.html", context, status=404)
        connections.end(token_id)
        return redirect(reverse("account_home"))


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)
