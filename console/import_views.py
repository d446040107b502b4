"""Bringing a library in: an export is read, looked at, started and watched."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.arrivals import count_states
from console.bring_forms import FOLDERS_OF_THE_EXPORT, ImportFileForm, ImportOptionsForm
from console.pages import ConsoleView
from console.sentences import add_problem
from knowledge.errors import QuarryError
from knowledge.imports import batches
from knowledge.models import ArrivalState, ImportBatch

PART = "console/parts/import.html"
FIRST_ROWS = 20
SHOWN = (ArrivalState.PRICED, ArrivalState.FAILED, ArrivalState.ADDED, ArrivalState.THERE)


class ImportsView(ConsoleView):
    """All imports so far, and a form to read another export."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(ImportFileForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = ImportFileForm(request.POST, request.FILES)
        if form.is_valid():
            file = form.cleaned_data["file"]
            try:
                with NamedTemporaryFile() as copy:
                    for piece in file.chunks():
                        copy.write(piece)
                    copy.flush()
                    path = Path(copy.name)
                    batch = batches.read_import(self.access, path, filename=file.name)
            except QuarryError as error:
                add_problem(form, error, otherwise="file")
            else:
                return self.go(reverse("console:import", args=[batch.pk]))
        return self._page(form, status=422)

    def _page(self, form: ImportFileForm, *, status: int = 200) -> HttpResponse:
        made = [each for each in batches.list_imports(self.access, limit=50) if each.filename]
        return self.show("console/imports.html", {"form": form, "imports": made}, status=status)


class ImportView(ConsoleView):
    """One import: its preview with the options, or how far it is."""

    def get(self, request: HttpRequest, batch_id: UUID) -> HttpResponse:
        batch = batches.get_import(self.access, batch_id)
        if self.request.htmx:
            return self.show_part(PART, self._context(batch))
        form = ImportOptionsForm(access=self.access, initial={"folder": FOLDERS_OF_THE_EXPORT})
        return self._page(batch, form)

    def post(self, request: HttpRequest, batch_id: UUID) -> HttpResponse:
        batch = batches.get_import(self.access, batch_id)
        form = ImportOptionsForm(request.POST, access=self.access)
        if form.is_valid():
            try:
                batches.start_import(self.access, batch_id, form.options)
            except QuarryError as error:
                form.refuse(error)
            else:
                return self.go(reverse("console:import", args=[batch_id]))
        return self._page(batch, form, status=422)

    def _page(
        self, batch: ImportBatch, form: ImportOptionsForm, *, status: int = 200
    ) -> HttpResponse:
        context = {**self._context(batch), "form": form}
        return self.show("console/import.html", context, status=status)

    def _context(self, batch: ImportBatch) -> dict[str, Any]:
        if batch.state == "preview":
            rows = batches.list_rows(self.access, batch.pk, limit=FIRST_ROWS)
            return {"batch": batch, "rows": rows}
        state = self.request.GET.get("state") or _most_pressing(batch)
        return {
            "batch": batch,
            "rows": batches.list_rows(self.access, batch.pk, state=state),
            "state": state,
            "counts": count_states(batch.row_counts, ArrivalState.values),
        }


class ImportVerbView(ConsoleView):
    """Stops an import, goes on with it, tries again what failed, or agrees to all prices."""

    def post(self, request: HttpRequest, batch_id: UUID, verb: str) -> HttpResponse:
        if verb == "stop":
            if batches.cancel_import(self.access, batch_id) is None:
                return self.go(reverse("console:imports"))
        elif verb == "agree":
            batches.agree_to_prices(self.access, batch_id)
        else:
            batches.resume_import(self.access, batch_id, failed=verb == "retry")
        return self.go(reverse("console:import", args=[batch_id]))


def _most_pressing(batch: ImportBatch) -> str:
    """What a person has to do something about, if there is any."""
    return next((state for state in SHOWN if batch.row_counts[state]), ArrivalState.WAITING)
