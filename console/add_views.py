"""Adding links and texts, and what is on its way, live."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.bring_forms import FilesForm, LinksForm, TextForm
from console.pages import ConsoleView
from console.waiting_files import list_waiting
from knowledge.access import Access
from knowledge.errors import QuarryError
from knowledge.imports import batches
from knowledge.ingest.adding import add_to_knowledge
from knowledge.ledger.quotas import quota_of
from knowledge.library.items import delete_item, retry_item
from knowledge.library.underway import list_underway
from knowledge.models import ImportBatch

PART = "console/parts/underway.html"


class AddView(ConsoleView):
    """A link, many links, a text or files; `?url=` fills the link in, for bookmarks and phones."""

    def get(self, request: HttpRequest) -> HttpResponse:
        asked = " ".join(request.GET.get(name, "") for name in ("url", "text"))
        links = "\n".join(batches.links_in(asked)[: batches.MAX_LINKS])
        form = LinksForm(access=self.access, initial={"links": links})
        shared = {"title": request.GET.get("title", ""), "text": "" if links else asked.strip()}
        return self._page(links=form, text=TextForm(access=self.access, initial=shared))

    def post(self, request: HttpRequest) -> HttpResponse:
        return self._add_text() if request.POST.get("kind") == "text" else self._add_links()

    def _add_links(self) -> HttpResponse:
        form = LinksForm(self.request.POST, access=self.access)
        if form.is_valid():
            try:
                batch = batches.add_links(self.access, form.cleaned_data["links"], form.options)
            except QuarryError as error:
                form.refuse(error)
            else:
                self._tell_of(batch)
                return self.go(reverse("console:add"))
        return self._page(links=form, status=422)

    def _tell_of(self, batch: ImportBatch) -> None:
        count = batch.rows_total
        self.tell("The link is on its way." if count == 1 else f"{count} links are on the way.")
        lines = [each["what"] for each in batch.left_out if each["why"] == batches.NO_LINK]
        if lines:
            first = ", ".join(f"“{line[:60]}”" for line in lines[:3])
            others = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
            said = f"Left out, because there is no link in it: {first}{others}."
            self.tell(said, level=messages.WARNING)

    def _add_text(self) -> HttpResponse:
        form = TextForm(self.request.POST, access=self.access)
        if form.is_valid():
            told = form.cleaned_data
            try:
                added = add_to_knowledge(
                    self.undoable,
                    kind="text",
                    title=told["title"],
                    text=told["text"],
                    tags=form.tag_list,
                    folder_id=form.folder_id,
                )
            except QuarryError as error:
                form.refuse(error)
            else:
                self.tell(f"Added “{added.item.title}”.", can_undo=True)
                return self.go(reverse("console:add"))
        return self._page(text=form, status=422)

    def _page(
        self,
        *,
        links: LinksForm | None = None,
        text: TextForm | None = None,
        status: int = 200,
    ) -> HttpResponse:
        context = {
            "links": links or LinksForm(access=self.access),
            "text": text or TextForm(access=self.access, prefix=None),
            "files": FilesForm(access=self.access, auto_id="files_%s"),
            "text_is_open": bool(text and (text.is_bound or text.initial.get("text"))),
            "quota": quota_of(self.person.pk),
            **underway(self.access, self.request),
        }
        context["text"].auto_id = "text_%s"
        return self.show("console/add.html", context, status=status)


class UnderwayView(ConsoleView):
    """What is on its way, for htmx to ask for again."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show_part(PART, underway(self.access, request))


class RowView(ConsoleView):
    """Tries a link again, agrees to its price, or drops it."""

    def post(self, request: HttpRequest, batch_id: UUID, row_id: int, verb: str) -> HttpResponse:
        ask = {"retry": batches.retry_row, "drop": batches.drop_row}[verb]
        ask(self.access, batch_id, row_id)
        return self._answer(request, batch_id)

    def _answer(self, request: HttpRequest, batch_id: UUID) -> HttpResponse:
        if request.POST.get("from") == "import":
            return self.go(reverse("console:import", args=[batch_id]))
        if self.request.htmx:
            return self.show_part(PART, underway(self.access, request))
        return self.go(reverse("console:add"))


class UnderwayItemView(ConsoleView):
    """Tries a failed item again, or removes it."""

    def post(self, request: HttpRequest, item_id: UUID, verb: str) -> HttpResponse:
        if verb == "retry":
            retry_item(self.access, item_id)
        else:
            delete_item(self.undoable, item_id)
            self.tell("Removed.", can_undo=True, level=messages.INFO)
        if self.request.htmx:
            return self.show_part(PART, underway(self.access, request))
        return self.go(reverse("console:add"))


def underway(access: Access, request: HttpRequest) -> dict[str, Any]:
    """All that is on its way, and whether anything will still change by itself."""
    rows = batches.list_recent_links(access)
    shown = {row.item_id for row in rows}
    items = [item for item in list_underway(access) if item.pk not in shown]
    is_busy = any(row.state == "waiting" or row.is_underway for row in rows)
    return {
        "rows": rows,
        "items": items,
        "waiting_files": list_waiting(request),
        "imports": [each for each in batches.list_imports(access, limit=5) if each.is_running],
        "is_busy": is_busy or any(item.content.is_at_work for item in items),
    }
