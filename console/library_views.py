"""The library: what there is, the search over it, and changes to many items at once."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.http import HttpRequest, HttpResponse, QueryDict
from django_htmx.http import replace_url

from console.library_query import AGES, MODE_NAMES, LibraryQuery, Results, results_of
from console.pages import ConsoleView, page_before
from knowledge.errors import InvalidInput, NotFound
from knowledge.library import bulk
from knowledge.library.items import ItemFilter, list_folders, list_items
from knowledge.library.tags import common_tags
from knowledge.models import ItemType
from knowledge.validation import as_id

SHOWN_FOLDERS = 12


class LibraryView(ConsoleView):
    """Recent items and folders when nothing is asked, otherwise what the engine finds."""

    def get(self, request: HttpRequest) -> HttpResponse:
        query = LibraryQuery.of(request.GET.dict())
        if self.request.htmx and not self.request.htmx.history_restore_request:
            return self.show_results(query)
        return self.show("console/library.html", self._frame_of_page(query))

    def show_results(self, query: LibraryQuery) -> HttpResponse:
        """Only what is below the question, and the address that shows the same."""
        context = self._context(query)
        return replace_url(self.show_part("console/parts/results.html", context), query.address)

    def _frame_of_page(self, query: LibraryQuery) -> dict[str, Any]:
        return self._context(query) | {
            "modes": MODE_NAMES,
            "ages": AGES,
            "types": ItemType.choices,
            "tags": common_tags(self.access),
        }

    def _context(self, query: LibraryQuery) -> dict[str, Any]:
        folders = list_folders(self.access)
        try:
            results = results_of(self.access, query)
        except NotFound:  # a folder that is gone, or never was this person's
            query = LibraryQuery.of({})
            results = results_of(self.access, query)
        return {
            "query": query,
            "results": results,
            "folders": folders,
            "folder_names": {folder.pk: folder.name for folder in folders},
            "shown_folders": folders[:SHOWN_FOLDERS],
            "is_new": self._is_new(results),
        }

    def _is_new(self, results: Results) -> bool:
        """Whether there is nothing in this library at all, not even in the archive."""
        if not results.query.is_plain or results.page is None or results.page.total:
            return False
        return not list_items(self.access, ItemFilter(), per_page=1).total


class ActionsView(LibraryView):
    """What the person does with the items that they have ticked."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.go("/")

    def post(self, request: HttpRequest) -> HttpResponse:
        item_ids = [as_id(value, field="item") for value in request.POST.getlist("item")]
        self.tell(self._act(request.POST, item_ids), can_undo=True)
        if not self.request.htmx:
            return self.go(page_before(request))
        address = urlsplit(page_before(request))
        if address.path != "/":
            return self.go(page_before(request))
        return self.show_results(LibraryQuery.of(dict(parse_qsl(address.query))))

    def _act(self, asked: QueryDict, item_ids: list[Any]) -> str:
        match asked.get("action"):
            case "archive":
                return f"{_items(bulk.archive_items(self.undoable, item_ids))} archived."
            case "unarchive":
                count = bulk.archive_items(self.undoable, item_ids, archived=False)
                return f"{_items(count)} back in the library."
            case "delete":
                return f"{_items(bulk.delete_items(self.undoable, item_ids))} deleted."
            case "tag":
                tags = split_tags(asked.get("tags", ""))
                return f"{_items(bulk.tag_items(self.undoable, item_ids, tags))} tagged."
            case "file":
                folder_ids = [as_id(value, field="folder") for value in asked.getlist("folder")]
                name = asked.get("new_folder", "")
                count = bulk.file_items(self.undoable, item_ids, folder_ids, new_folder=name)
                return f"{_items(count)} filed."
        raise InvalidInput("Choose what to do with the items.", field="action")


def split_tags(written: str) -> list[str]:
    """Tags as people write them: between commas, with or without a #."""
    tags = (tag.strip().lstrip("#") for tag in written.split(","))
    return [tag for tag in tags if tag]


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"
