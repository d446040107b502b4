"""Connections: a person's tokens and OAuth clients, what each may do, did, and can see."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from accounts.forms import MintForm
from console.pages import ConsoleView
from console.sentences import add_problem, for_people
from knowledge.errors import QuarryError
from knowledge.library.items import list_folders
from knowledge.retrieval.search import MAX_QUERY, MODES, LibrarySearchRequest, search
from knowledge.undo import token_writes
from tokens.activity import EventFilter, list_events
from tokens.forms import WINDOWS, SpanForm
from tokens.identity import asks_open_to
from tokens.limits import allowances
from tokens.minting import mint_token
from tokens.models import Token, Toolset
from tokens.oauth import connections
from tokens.own_tokens import client_setups, end_own, get_own, list_own, sight_of
from tokens.single_use import SentBefore

EVENTS = 25
HITS = 10
SHOWN_WRITES = 100


class ConnectionsView(ConsoleView):
    """All of them, and the way to a new one."""

    def get(self, request: HttpRequest) -> HttpResponse:
        mine = list_own(self.person.pk)
        active = [token for token in mine if token.state == "active"]
        context = {
            "clients": [token for token in active if token.client_id],
            "tokens": [token for token in active if not token.client_id],
            "ended": [token for token in mine if token.state != "active"],
            "address": _address(request),
        }
        return self.show("console/connections.html", context)


class MintView(ConsoleView):
    """A new token; its secret is on the page that answers, and nowhere after."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(MintForm(person=self.person))

    @sensitive_variables("secret", "setups")
    def post(self, request: HttpRequest) -> HttpResponse:
        form = MintForm(request.POST, person=self.person)
        if not form.is_valid():
            return self._page(form, status=422)
        try:
            with transaction.atomic():
                token, secret = mint_token(self.person, form.token_request)
                form.spend()  # last: whatever fails rolls both back
        except SentBefore:
            form.add_error(None, "This form was used before. Open the page anew.")
            return self._page(form, status=409)
        except QuarryError as error:
            add_problem(form, error)
            return self._page(form, status=422)
        setups = client_setups(_address(request), secret)
        response = self.show(
            "console/minted.html", {"token": token, "secret": secret, "setups": setups}
        )
        response["Cache-Control"] = "no-store"
        return response

    def _page(self, form: MintForm, *, status: int = 200) -> HttpResponse:
        return self.show("console/mint.html", {"form": form}, status=status)


class AsTokenForm(forms.Form):
    """A search as the token would run it."""

    q = forms.CharField(label="Search as it", max_length=MAX_QUERY, required=False)
    mode = forms.ChoiceField(
        required=False, choices=[(mode, mode.capitalize()) for mode in reversed(MODES)]
    )


class ConnectionView(ConsoleView):
    """One of them: what it sees, finds, did, and has left."""

    def get(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        token = get_own(self.person.pk, token_id)
        form = AsTokenForm(request.GET or None)
        context: dict[str, Any] = {
            "token": token,
            "toolsets": [Toolset(name).label for name in token.toolsets],
            "is_active": token.state == "active",
            "form": form,
            **self._activity(token),
        }
        if token.state == "active":
            context |= self._powers(token)
            context |= self._found(token, form) if form.is_valid() else {}
        return self.show("console/connection.html", context)

    def _activity(self, token: Token) -> dict[str, Any]:
        page = self.request.GET.get("page", "1")
        number = int(page) if page.isdecimal() and 0 < int(page) < 10_000 else 1
        found = list_events(self.person.pk, token.pk, EventFilter(), page=number, per_page=EVENTS)
        return {"activity": found, "has_later": number * EVENTS < found.total}

    def _powers(self, token: Token) -> dict[str, Any]:
        limits = allowances(token, asks_open_to(token))
        used = {ask: left for ask, left in limits.items() if left.remaining < left.limit}
        return {"sight": sight_of(token.access), "limits": limits, "used": used}

    def _found(self, token: Token, form: AsTokenForm) -> dict[str, Any]:
        query, mode = form.cleaned_data["q"], form.cleaned_data["mode"] or "hybrid"
        if not query.strip():
            return {}
        try:
            asked = LibrarySearchRequest(query=query, mode=mode, limit=HITS)
            return {"found": search(token.access, asked), "query": query}
        except QuarryError as error:
            return {"problem": for_people(error), "query": query}


class NarrowForm(forms.Form):
    """What a connected client keeps; it can never be given more here."""

    can_write = forms.BooleanField(required=False, label="Add, change and delete")
    toolsets = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    folder_ids = forms.TypedMultipleChoiceField(
        coerce=UUID, required=False, label="Folders", widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: Any = None, *, token: Token, folders: Any) -> None:
        kept = {
            "can_write": token.can_write,
            "toolsets": token.toolsets,
            "folder_ids": [] if token.is_unscoped else [each.pk for each in folders],
        }
        super().__init__(data, initial=kept)
        labels = [(name, Toolset(name).label) for name in token.toolsets]
        self.fields["toolsets"].choices = labels  # type: ignore[attr-defined]
        choices = [(each.pk, each.name) for each in folders]
        self.fields["folder_ids"].choices = choices  # type: ignore[attr-defined]
        if token.is_unscoped:
            self.fields[
                "folder_ids"
            ].help_text = (
                "It sees the whole library. Choose folders, and it sees only those from now on."
            )
        if not token.can_write:
            del self.fields["can_write"]
        if not choices:
            del self.fields["folder_ids"]


class NarrowView(ConsoleView):
    """Take something away from a connected client."""

    def get(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        token = connections.own_connection(self.person.pk, token_id)
        return self._page(token, self._form(token))

    def post(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        token = connections.own_connection(self.person.pk, token_id)
        form = self._form(token, request.POST)
        if not form.is_valid():
            return self._page(token, form, status=422)
        chosen = form.cleaned_data
        folder_ids = chosen.get("folder_ids")
        keeps_writing = chosen.get("can_write") or not token.can_write
        try:
            connections.narrow(
                self.person.pk,
                token_id,
                connections.Narrowing(
                    can_write=None if keeps_writing else False,
                    toolsets=chosen["toolsets"],
                    folder_ids=None if token.is_unscoped and not folder_ids else folder_ids,
                ),
            )
        except QuarryError as error:
            add_problem(form, error)
            return self._page(token, form, status=422)
        self.tell(f"{token.name} can do only this from its next call on.")
        return self.go(reverse("console:connection", args=[token_id]))

    def _form(self, token: Token, data: Any = None) -> NarrowForm:
        folders = list_folders(self.access) if token.is_unscoped else token.folders.all()
        return NarrowForm(data, token=token, folders=list(folders))

    def _page(self, token: Token, form: NarrowForm, *, status: int = 200) -> HttpResponse:
        return self.show("console/narrow.html", {"token": token, "form": form}, status=status)


class RevokeView(ConsoleView):
    """End one; this cannot be undone, and the page asked before."""

    def post(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        token = end_own(self.person.pk, token_id)
        self.tell(f"{token.name} is revoked.")
        return self.go(reverse("console:connections"))


class UndoWritesView(ConsoleView):
    """What a token wrote in a window, and one button that reverts it."""

    def get(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        token = get_own(self.person.pk, token_id)
        asked = request.GET.get("hours", "")
        hours = asked if asked in WINDOWS else "1"
        until = timezone.now()
        since = until - timedelta(hours=int(hours))
        would = token_writes.preview(self.person.pk, token.pk, since=since, until=until)
        context = {
            "token": token,
            "windows": WINDOWS,
            "hours": hours,
            "would": would,
            "shown": would.undone[:SHOWN_WRITES],
            "left": would.skipped[:SHOWN_WRITES],
            "span": SpanForm(initial={"since": since.isoformat(), "until": until.isoformat()}),
        }
        return self.show("console/undo_writes.html", context)

    def post(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        token = get_own(self.person.pk, token_id)
        form = SpanForm(request.POST)
        if not form.is_valid():
            return self.go(reverse("console:undo_writes", args=[token_id]))
        done = token_writes.undo(self.person.pk, token.pk, **form.cleaned_data)
        left = f" {len(done.skipped)} were changed since and stay." if done.skipped else ""
        self.tell(f"{len(done.undone)} undone of what {token.name} wrote.{left}")
        return self.go(reverse("console:connection", args=[token_id]))


def _address(request: HttpRequest) -> str:
    return request.build_absolute_uri("/mcp")
