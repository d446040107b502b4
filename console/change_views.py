"""Changes: what one did lately and what is deleted, each with its undo."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.pages import ConsoleView, page_before
from knowledge.undo.own_changes import Listed, list_actions, list_deletions, undo_change
from knowledge.undo.token_writes import Undone
from tokens.own_tokens import list_own


class ChangesView(ConsoleView):
    """What can be undone: one's own actions, or everything that is deleted."""

    def get(self, request: HttpRequest) -> HttpResponse:
        title = request.GET.get("q", "").strip()
        asked = request.GET.get("page", "")
        page = int(asked) if asked.isdecimal() and 0 < len(asked) < 4 else 1
        names = {token.pk: token.name for token in list_own(self.person.pk)}
        is_deleted = request.GET.get("show") == "deleted"
        listed: Listed[Any] = (
            list_deletions(self.access, title=title, page=max(1, page))
            if is_deleted
            else list_actions(self.access, besides=names, title=title, page=max(1, page))
        )
        context = {
            "is_deleted": is_deleted,
            "title": title,
            "page": page,
            "listed": listed,
            "token_names": names,
            "newer": self._address(is_deleted, title, page - 1) if page > 1 else "",
            "older": self._address(is_deleted, title, page + 1) if listed.has_more else "",
        }
        return self.show("console/changes.html", context)

    def _address(self, is_deleted: bool, title: str, page: int) -> str:
        told = {"show": "deleted" if is_deleted else "", "q": title, "page": page}
        return f"?{urlencode({name: value for name, value in told.items() if value})}"


class UndoChangeView(ConsoleView):
    """Takes one change back, such as one deletion of an agent that deleted many."""

    def post(self, request: HttpRequest, change_id: int) -> HttpResponse:
        tell_undone(self, undo_change(self.access, change_id))
        return self.go(page_before(request, reverse("console:changes")))


def tell_undone(view: ConsoleView, done: Undone) -> None:
    """What came of an undo."""
    if done.skipped:
        reasons = "; ".join(f"{write.title}: {write.reason}" for write in done.skipped[:3])
        left = f"{len(done.skipped)} could not be undone. {reasons}"
        view.tell(left, level=messages.WARNING)
    elif done.undone:
        view.tell("Undone.")
    else:
        view.tell("There is nothing left to undo.", level=messages.INFO)
