"""The small things that every page of the console offers: undo and the theme."""

from datetime import timedelta
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from console.change_views import tell_undone
from console.navigation import THEME_COOKIE, THEMES
from console.pages import ConsoleView, page_before
from knowledge.ledger.changes import KEPT_FOR
from knowledge.undo.token_writes import undo

_A_YEAR = timedelta(days=365)


class UndoView(ConsoleView):
    """Takes one action of this person back."""

    def post(self, request: HttpRequest, action_id: UUID) -> HttpResponse:
        done = undo(self.person.pk, action_id, since=timezone.now() - KEPT_FOR)
        tell_undone(self, done)
        return self.go(page_before(request))


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Keep the theme in a cookie, so that the server draws it from the first byte on."""
    theme = request.POST.get("theme", "")
    response = redirect(page_before(request))
    if theme in THEMES:
        response.set_cookie(THEME_COOKIE, theme, max_age=_A_YEAR, samesite="Lax", httponly=True)
    return response
