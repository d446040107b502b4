"""Settings: what is used and left, the library out and in, sessions and the second factor."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse

from console.ask_views import PER_HOUR, questions_left
from console.pages import ConsoleView
from console.sentences import add_problem
from knowledge.access import Access
from knowledge.api.asgi import MAX_BODY
from knowledge.api.exchange import send_archive, send_export
from knowledge.errors import QuarryError
from knowledge.exchange import actors, archive_imports, exports
from knowledge.ledger.quotas import usage_of
from knowledge.library.items import ItemFilter, list_folders, list_items
from knowledge.models import Export
from tokens.own_tokens import list_own

MOST_MB = MAX_BODY // 1024 // 1024
_FACTORS = {"totp": "an authenticator app", "webauthn": "a passkey or security key"}


class SettingsView(ConsoleView):
    """Everything about one's account that is no page of its own."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return show_settings(self, ImportForm())


class ExportView(ConsoleView):
    """The whole library as one zip: a small one at once, any other by a job."""

    def get(self, request: HttpRequest) -> StreamingHttpResponse:
        return send_archive(exports.export_small(self.access))

    def post(self, request: HttpRequest) -> HttpResponse:
        actors.start_export(self.access)
        return self.go(f"{reverse('console:settings')}#export")


class ExportsView(ConsoleView):
    """The exports that there are, and how far each is: a part of the page."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("console/parts/exports.html", {"exports": list_exports(self)})


class ExportFileView(ConsoleView):
    """The file of an export."""

    def get(self, request: HttpRequest, export_id: UUID) -> StreamingHttpResponse:
        return send_export(request, exports.open_export(self.access, export_id))


def list_exports(view: ConsoleView) -> list[Export]:
    return exports.list_exports(view.access)


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
            start_uploaded_import(self.undoable, form.cleaned_data["archive"])
        except QuarryError as error:
            add_problem(form, error, otherwise="archive")
            return show_settings(self, form, status=422)
        self.tell("Your import has begun; this page shows how far it is.")
        return self.go(f"{reverse('console:settings')}#import-title")


class ArchiveImportsView(ConsoleView):
    """The newest imports, and how far each is: a part of the page."""

    def get(self, request: HttpRequest) -> HttpResponse:
        shown = {"imports": archive_imports.list_imports(self.access)}
        return self.show_part("console/parts/archive_imports.html", shown)


class CancelArchiveImportView(ConsoleView):
    """Ends an import; what was added stays."""

    def post(self, request: HttpRequest, import_id: UUID) -> HttpResponse:
        archive_imports.cancel_import(self.access, import_id)
        return self.go(f"{reverse('console:settings')}#import-title")


def start_uploaded_import(access: Access, uploaded: UploadedFile) -> None:
    """A form's file is in memory or on disk; the import is given one that is on disk."""
    with NamedTemporaryFile() as copy:
        for piece in uploaded.chunks():
            copy.write(piece)
        copy.flush()
        archive_imports.start_import(access, Path(copy.name))


def show_settings(view: ConsoleView, form: ImportForm, *, status: int = 200) -> HttpResponse:
    items = list_items(view.access, ItemFilter(), per_page=1)
    use = usage_of(view.access)
    context: dict[str, Any] = {
        "form": form,
        "imports": archive_imports.list_imports(view.access),
        "exports": list_exports(view),
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
