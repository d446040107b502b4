"""The pages of one's own account that allauth does not bring."""

from typing import Any

from allauth.account.views import password_reset
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django_ratelimit.core import is_ratelimited

from accounts.forms import AcceptForm, ResetForm
from accounts.invitations import accept, can_mail, find_open
from knowledge.errors import InvalidInput, NotFound

_TRIES = "60/h"


def request_reset(request: HttpRequest) -> HttpResponse:
    """A new password by mail, where there is mail."""
    if can_mail():
        answer: HttpResponse = password_reset(request)
        return answer
    told = "This server sends no mail. Ask an admin for a link that sets a new password."
    return render(request, "accounts/message.html", {"problem": told})


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
