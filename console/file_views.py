"""Files: in three steps by a script, each of any size, or by a plain form."""

import json
import mimetypes
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse

from console import waiting_files
from console.add_views import PART, underway
from console.bring_forms import FilesForm
from console.pages import ConsoleView
from console.sentences import for_people
from knowledge.api.errors import STATUSES
from knowledge.errors import InvalidInput, QuarryError
from knowledge.ingest.adding_files import finish_upload, store_file
from knowledge.ingest.estimating import estimate_upload
from knowledge.ingest.uploads import DOCUMENTS, RECORDINGS, begin_upload
from knowledge.models import Item

MOST_FILES = 100


class _JsonView(ConsoleView):
    """Answers a script: errors are told in JSON, beside the file that they are about."""

    def show_error(self, error: QuarryError) -> HttpResponse:
        return JsonResponse({"problem": for_people(error)}, status=STATUSES[error.code])

    def body(self, request: HttpRequest) -> dict[str, Any]:
        try:
            told = json.loads(request.body)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise InvalidInput("Send a JSON object.")
        return told


class BeginFileView(_JsonView):
    """The first step: an address to put one file at."""

    def post(self, request: HttpRequest) -> HttpResponse:
        told = self.body(request)
        size, name = told.get("size"), str(told.get("name", ""))
        known = mimetypes.guess_type(name)[0]  # browsers leave it out of what they do not know
        begun = begin_upload(
            self.access,
            filename=name,
            media_type=str(told.get("type") or known or "application/octet-stream"),
            size=size if isinstance(size, int) else 0,
        )
        return JsonResponse(
            {
                "id": str(begun.upload.pk),
                "url": begun.put.url,
                "method": begun.put.method,
                "headers": dict(begun.put.headers),
            }
        )


class FinishFileView(_JsonView):
    """The last step: a document becomes an item; a recording first has its price told."""

    def post(self, request: HttpRequest, upload_id: UUID) -> HttpResponse:
        told = self.body(request)
        form = FilesForm(
            {name: told.get(name, "") for name in ("folder", "tags")}, access=self.access
        )
        if not form.is_valid():
            raise InvalidInput("Choose one of your folders.", field="folder")
        item = add_or_price(self, upload_id, form)
        if item is None:
            return JsonResponse({"state": "priced"})
        return JsonResponse({"state": "added", "item": str(item.pk)})


class WaitingFileView(ConsoleView):
    """Agrees to the price of a recording, or drops it."""

    def post(self, request: HttpRequest, upload_id: UUID, verb: str) -> HttpResponse:
        if verb == "add":
            given = waiting_files.options_of(request, str(upload_id))
            _finish(self, upload_id, given)
        waiting_files.forget(request, str(upload_id))
        if self.request.htmx:
            return self.show_part(PART, underway(self.access, request))
        return self.go(reverse("console:add"))


class FilesView(ConsoleView):
    """A plain form with files, for browsers without scripts."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = FilesForm(request.POST, access=self.access)
        files = request.FILES.getlist("files")[:MOST_FILES]
        if not form.is_valid() or not files:
            self.tell("Choose at least one file.", level=messages.ERROR)
            return self.go(reverse("console:add"))
        added = 0
        for file in files:
            try:
                added += self._add(file, form) is not None
            except QuarryError as error:
                self.tell(f"{file.name}: {for_people(error)}", level=messages.ERROR)
        if added:
            self.tell(f"{added} file{'' if added == 1 else 's'} on the way.")
        return self.go(reverse("console:add"))

    def _add(self, file: UploadedFile, form: FilesForm) -> Item | None:
        with NamedTemporaryFile() as copy:
            for piece in file.chunks():
                copy.write(piece)
            copy.flush()
            upload = store_file(self.access, Path(copy.name), filename=file.name or "file")
        return add_or_price(self, upload.pk, form)


def add_or_price(view: ConsoleView, upload_id: UUID, form: FilesForm) -> Item | None:
    """Add a document at once; of a recording remember what it would cost, and answer none."""
    price = estimate_upload(view.access, upload_id)
    given = {"folder": form.cleaned_data["folder"], "tags": form.tag_list}
    if price.minutes:
        waiting_files.remember(view.request, str(upload_id), price, given)
        return None
    return _finish(view, upload_id, given)


def _finish(view: ConsoleView, upload_id: UUID, given: dict[str, Any]) -> Item:
    folder = given.get("folder")
    added = finish_upload(
        view.undoable,
        upload_id,
        kinds=RECORDINGS | DOCUMENTS,
        tags=given.get("tags", []),
        folder_id=UUID(folder) if folder else None,
    )
    return added.item
