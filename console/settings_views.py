"""Settings: what is used and left, the library out and in, sessions and the second factor."""

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse

from console.ask_views import PER_HOUR, questions_left
from console.pages import ConsoleView
from console.sentences import add_problem
from knowledge.api.asgi import MAX_BODY
from knowledge.api.exchange import send_archive
from knowledge.errors import QuarryError
from knowledge.exchange.exporting import export_library
from knowledge.exchange.importing import ImportReport, import_library
from knowledge.ledger.quotas import usage_of
from knowledge.library.items import ItemFilter, list_folders, list_items
from tokens.own_tokens import list_own

MOST_MB = MAX_BODY // 1024 // 1024
_FACTORS = {"totp": "an authenticator app", "webauthn": "a passkey or security key"}


class SettingsView(ConsoleView):
    """Everything about one's account that is no page of its own."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return show_settings(self, ImportForm())


class ExportView(ConsoleView):
    """The whole library as one zip, read and sent piece by piece."""

    def get(self, request: HttpRequest) -> StreamingHttpResponse:
        return send_archive(request, export_library(self.access))


class ImportForm(forms.Form):
    """An archive that Quarry exported."""

    archive = forms.FileField(
        label="A zip that Quarry exported",
        help_text=f"Up to {MOST_MB} MB here; a larger one by manage.py import or POST /import.",
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}),
    )


class ImportView(ConsoleView):
    """Adds what an archive has and the library lacks; nothing is overwritten."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = ImportForm(request.POST, request.FILES)
        if not form.is_valid():
            return show_settings(self, form, status=422)
        try:
            report = import_library(self.undoable, form.cleaned_data["archive"].file)
        except QuarryError as error:
            add_problem(form, error, otherwise="archive")
            return show_settings(self, form, status=422)
        if report.failed:
            return show_settings(self, ImportForm(), report=report)
        self.tell(_came_of(report), can_undo=report.has_new)
        return self.go(reverse("console:settings"))


def show_settings(
    view: ConsoleView, form: ImportForm, *, report: ImportReport | None = None, status: int = 200
) -> HttpResponse:
    items = list_items(view.access, ItemFilter(), per_page=1)
    use = usage_of(view.access)
    context: dict[str, Any] = {
        "form": form,
        "report": report,
        "use": use,
        "months": [use.this_month, *use.earlier[:5]],
        "items": items.total,
        "folders": len(list_folders(view.access)),
        "tokens": sum(token.state == "active" for token in list_own(view.person.pk)),
        "questions_left": questions_left(view.request),
        "questions": PER_HOUR,
        "upload_mb": settings.QUARRY_MAX_UPLOAD_MB,
        "sessions": UserSession.objects.purge_and_list(view.person),
        "session_key": view.request.session.session_key,
        "factors": _factors_of(view),
    }
    return view.show("console/settings.html", context, status=status)


def _factors_of(view: ConsoleView) -> list[str]:
    mine = Authenticator.objects.filter(user=view.person, type__in=_FACTORS)
    return [_FACTORS[kind] for kind in dict.fromkeys(mine.values_list("type", flat=True))]


def _came_of(report: ImportReport) -> str:
    was = "was" if report.skipped == 1 else "were"
    there = f" {report.skipped:,} {was} there already." if report.skipped else ""
    if not report.has_new:
        return f"Nothing new came in.{there}"
    return f"{report.items:,} item{'' if report.items == 1 else 's'} came in.{there}"
