"""What every page of the console shares: who is asking, how it is rendered, what goes wrong."""

from dataclasses import replace
from functools import cached_property
from typing import Any, cast
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View
from django_htmx.http import HttpResponseClientRedirect, reswap, trigger_client_event
from django_htmx.middleware import HtmxDetails

from console.sentences import field_among, for_people
from knowledge.access import Access
from knowledge.api.errors import STATUSES
from knowledge.errors import QuarryError


class HtmxRequest(HttpRequest):
    """A request as django-htmx's middleware hands it on."""

    htmx: HtmxDetails


class ConsoleView(LoginRequiredMixin, View):
    """A page of the person who is signed in, for their whole library and nobody else's."""

    request: HtmxRequest

    @cached_property
    def person(self) -> User:
        return cast(User, self.request.user)

    @cached_property
    def access(self) -> Access:
        """To read with, and to write what needs no undo."""
        return Access.whole_library(self.person.pk)

    @cached_property
    def undoable(self) -> Access:
        """To write with, so that this one request can be undone: see `tell`."""
        return replace(self.access, action_id=uuid4())

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = super().dispatch(request, *args, **kwargs)
        except QuarryError as error:
            response = self.show_error(error)
        patch_vary_headers(response, ["HX-Request"])
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        return response

    def handle_no_permission(self) -> Any:
        """To the sign-in, and from there to this page, or to the one that a form was sent from."""
        asked = self.request.get_full_path()
        is_page = self.request.method == "GET" and not self.request.htmx
        response = redirect_to_login(asked if is_page else page_before(self.request))
        return HttpResponseClientRedirect(response.url) if self.request.htmx else response

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """A page rather than an empty answer, for somebody who opens the address of a button."""
        response = super().http_method_not_allowed(request, *args, **kwargs)
        response.content = render_to_string(
            "console/error.html", {"problem": "This address only takes what a form sends."}, request
        )
        return response

    def show(
        self, template: str, context: dict[str, Any] | None = None, *, status: int = 200
    ) -> HttpResponse:
        """A whole page."""
        return render(self.request, template, context or {}, status=status)

    def show_part(
        self, template: str, context: dict[str, Any] | None = None, *, status: int = 200
    ) -> HttpResponse:
        """A part of a page for htmx, and beside it whatever there is to tell.

        Without any news, what the page says already stays: a list that is refreshed by itself
        takes no undo away.
        """
        part = render_to_string(template, context or {}, self.request)
        if not len(messages.get_messages(self.request)):
            return HttpResponse(part, status=status)
        told = render_to_string("console/parts/toasts.html", {"is_oob": True}, self.request)
        return HttpResponse(part + told, status=status)

    def tell(self, sentence: str, *, can_undo: bool = False, level: int = messages.SUCCESS) -> None:
        """Say what was done on this page or, after a redirect, on the next one.

        With `can_undo`, beside it is a button that reverts what `self.undoable` wrote.
        """
        action = str(self.undoable.action_id) if can_undo else ""
        messages.add_message(self.request, level, sentence, extra_tags=action)

    def tell_only(self) -> HttpResponse:
        """For htmx: nothing changes but the messages."""
        return reswap(self.show_part("console/parts/nothing.html"), "none")

    def go(self, to: str) -> HttpResponse:
        """To another page, after a form was sent."""
        return HttpResponseClientRedirect(to) if self.request.htmx else redirect(to)

    def show_error(self, error: QuarryError) -> HttpResponse:
        """One sentence that says what to do: in place for htmx, otherwise on a page of its own.

        With scripts, it then moves to the field that it is about, if the form has that one.
        """
        status, sentence = STATUSES[error.code], for_people(error)
        if self.request.htmx:
            messages.error(self.request, sentence)
            response = self.tell_only()
            response.status_code = status
            told = {"field": field_among(self.request.POST, error), "sentence": sentence}
            return trigger_client_event(response, "problem", told, after="settle")
        context = {"problem": sentence, "status": status}
        return self.show("console/error.html", context, status=status)


def page_before(request: HttpRequest, otherwise: str = "/") -> str:
    """The page that a form was sent from, if it is one of ours."""
    came_from = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(came_from, {request.get_host()})
    # Without the place on it: to the same page and place a browser goes without loading it anew.
    return came_from.partition("#")[0] if is_ours else otherwise
