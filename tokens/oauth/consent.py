"""The page on which a person lets a client in, and says how far."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib.auth.models import User
from django.db.models import TextChoices
from django.http import HttpRequest, HttpResponse
from oauth2_provider.exceptions import OAuthToolkitError
from oauth2_provider.forms import AllowForm
from oauth2_provider.models import Application
from oauth2_provider.views import AuthorizationView
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error

from knowledge.access import Access
from knowledge.models import Folder
from tokens.models import Toolset, default_toolsets
from tokens.oauth.addresses import resource_of
from tokens.oauth.connections import WRITE_SCOPE, client_name
from tokens.oauth.redirects import host_of, is_on_this_machine


class Reach(TextChoices):
    FOLDERS = "folders", "Only the folders chosen here"
    LIBRARY = "library", "My whole library"


class ConsentForm(AllowForm):  # type: ignore[misc]
    """What the client asked for, hidden, and what the person gives it."""

    reach = forms.ChoiceField(
        choices=Reach, initial=Reach.FOLDERS, widget=forms.RadioSelect, required=False
    )
    folders = forms.ModelMultipleChoiceField(
        Folder.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )
    can_write = forms.BooleanField(
        required=False, label="Add, change and delete", help_text="Without it, it only reads."
    )
    toolsets = forms.MultipleChoiceField(
        choices=Toolset,
        initial=default_toolsets,
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["allow"].widget = forms.HiddenInput()  # the buttons say it
        mine = Folder.objects.visible_to(Access.whole_library(person.pk)).order_by("name")
        self.fields["folders"].queryset = mine
        scope = self.initial.get("scope") or self.data.get("scope") or ""
        if WRITE_SCOPE not in scope.split():
            del self.fields["can_write"]

    def clean(self) -> dict[str, Any]:
        asked: dict[str, Any] = super().clean() or self.cleaned_data
        if not asked.get("allow"):
            return asked
        if not asked.get("toolsets"):
            self.add_error("toolsets", "Choose at least one group of tools.")
        if asked.get("reach") not in Reach.values:
            self.add_error("reach", "Choose what it may see.")
        if asked.get("reach") == Reach.FOLDERS and not asked.get("folders"):
            self.add_error("folders", "Choose at least one folder, or the whole library.")
        return asked

    @property
    def reach_to_store(self) -> dict[str, Any]:
        """The reach as it is kept with the code."""
        asked = self.cleaned_data
        folders = [str(folder.pk) for folder in asked["folders"]]
        return {
            "folder_ids": None if asked["reach"] == Reach.LIBRARY else folders,
            "can_write": bool(asked.get("can_write")),
            "toolsets": asked["toolsets"],
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
