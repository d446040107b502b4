"""The page on which a person lets a client in, and says how far."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from oauth2_provider.exceptions import OAuthToolkitError
from oauth2_provider.forms import AllowForm
from oauth2_provider.models import Application
from oauth2_provider.views import AuthorizationView
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error

from tokens.forms import ReachForm
from tokens.oauth.addresses import resource_of
from tokens.oauth.connections import WRITE_SCOPE, client_name
from tokens.oauth.redirects import host_of, is_on_this_machine


class ConsentForm(ReachForm, AllowForm):  # type: ignore[misc]
    """What the client asked for, hidden, and what the person gives it."""

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["allow"].widget = forms.HiddenInput()  # the buttons say it
        self.offer_folders_of(person)
        scope = self.initial.get("scope") or self.data.get("scope") or ""
        if WRITE_SCOPE not in scope.split():
            del self.fields["can_write"]
        if self.is_bound and not self.data.get("allow"):
            for name in set(ReachForm.base_fields) & set(self.fields):
                del self.fields[name]  # whoever cancels has chosen nothing

    @property
    def reach_to_store(self) -> dict[str, Any]:
        """The reach as it is kept with the code."""
        folder_ids = self.chosen_folder_ids
        return {
            "folder_ids": None if folder_ids is None else list(map(str, folder_ids)),
            "can_write": bool(self.cleaned_data.get("can_write")),
            "toolsets": self.cleaned_data["toolsets"],
        }


class ConsentView(AuthorizationView):  # type: ignore[misc]
    """Asks every time: nothing that a person once allowed is taken for allowed again."""

    template_name = "oauth/consent.html"
    form_class = ConsentForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "person": self.request.user}

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        asked = request.GET.copy()
        asked.pop("approval_prompt", None)
        resources = [value.rstrip("/") for value in asked.getlist("resource") if value]
        if any(value != resource_of(request) for value in resources):
            return self._refuse_resource(request)
        # A client of the first revisions names no resource; there is but one here.
        asked.setlist("resource", [resource_of(request)])
        request.GET = asked  # type: ignore[assignment]
        answer: HttpResponse = super().get(request, *args, **kwargs)
        return answer

    def _refuse_resource(self, request: HttpRequest) -> HttpResponse:
        """Back to the client, if it is one that may be answered."""
        try:
            _scopes, credentials = self.validate_authorization_request(request)
        except OAuthToolkitError as unknown:
            refused: HttpResponse = self.error_response(unknown, application=None)
            return refused
        problem = CustomOAuth2Error(
            error="invalid_target",
            description=f"This server guards {resource_of(request)} and nothing else.",
            state=credentials.get("state"),
        )
        error = OAuthToolkitError(error=problem, redirect_uri=credentials["redirect_uri"])
        answer: HttpResponse = self.error_response(error, application=None)
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        form = context.get("form")
        if form is None:
            return context
        uri = form["redirect_uri"].value()
        client = Application.objects.filter(client_id=form["client_id"].value()).first()
        if client is not None and uri:
            context |= {
                "client": client_name(client),
                "verified_host": _verified_host(client),
                "sends_to": host_of(uri),
                "sends_to_this_machine": is_on_this_machine(uri),
            }
            self.request.form_target = uri
        return context

    def form_valid(self, form: ConsentForm) -> HttpResponse:
        asked = form.cleaned_data
        is_allowed = bool(asked.get("allow"))
        credentials = {
            name: asked.get(name) or None
            for name in (
                *("client_id", "redirect_uri", "response_type", "state"),
                *("code_challenge", "code_challenge_method"),
            )
        }
        credentials["resource"] = [resource_of(self.request)]
        scopes = "kb:read"
        if is_allowed:
            credentials["reach"] = form.reach_to_store
            scopes += f" {WRITE_SCOPE}" if form.reach_to_store["can_write"] else ""
        application = Application.objects.filter(client_id=asked["client_id"]).first()
        try:
            # The toolkit checks anew what the hidden fields say.
            uri, _headers, _body, _status = self.create_authorization_response(
                request=self.request, scopes=scopes, credentials=credentials, allow=is_allowed
            )
        except OAuthToolkitError as error:
            refused: HttpResponse = self.error_response(error, application)
            return refused
        answer: HttpResponse = self.redirect(uri, application)
        return answer


def _verified_host(client: Application) -> str:
    """The host that vouches for the client: it serves the document that is its id."""
    if client.registration_source == Application.RegistrationSource.CIMD:
        return str(urlsplit(client.client_id).netloc)
    return ""
