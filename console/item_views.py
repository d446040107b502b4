"""The reader: one item, its text at the very place, and what can be done with it."""

import re
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh

from console.library_views import split_tags
from console.original_views import SHOWN
from console.pages import ConsoleView
from console.reading import MOST_FOUND, Reading, Span, occurrences_at
from console.sentences import for_people
from knowledge.errors import InvalidInput, NotFound, QuarryError
from knowledge.ingest.transforms import estimate_transform, transform_item
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.filing import refile_item
from knowledge.library.items import delete_item, get_item, list_folders, retry_item
from knowledge.library.originals import Original, get_original
from knowledge.library.tags import common_tags
from knowledge.memory.exploring import ExploreRequest, Node, explore
from knowledge.models import IndexStatus, Item
from knowledge.validation import as_id
from tokens.models import Token

MOST_RELATED = 20
LISTED_PLACES = 100
_SPAN = re.compile(r"(\d{1,9}),(\d{1,9})")


class ItemView(ConsoleView):
    """An item to read."""

    def get(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        item = get_item(self.access, item_id)
        if self.request.htmx.target == "progress":
            return self._show_progress(item)
        reading = Reading(item.content)
        span = span_asked(request.GET)
        number = reading.number_at(span[0]) if span else _number(request.GET.get("part"))
        is_whole = "whole" in request.GET
        numbers = range(1, len(reading.starts) + 1) if is_whole else [number]
        find = request.GET.get("find", "").replace("\x00", "")
        context = self._facts(item) | {
            "reading": reading,
            "parts": [reading.part(each, marked=span) for each in numbers],
            "is_whole": is_whole,
            "find": find,
            "occurrences": occurrences_at(reading.text, find, span),
            "listed": LISTED_PLACES,
            "most_found": MOST_FOUND,
        }
        if self.request.htmx.target == "occurrences":
            return self.show_part("console/parts/occurrences.html", context)
        return self.show("console/item.html", context)

    def _show_progress(self, item: Item) -> HttpResponse:
        """How far the text has come; the whole page, once it is there."""
        if not item.content.is_at_work:
            return HttpResponseClientRefresh()
        context = {"item": item, "content": item.content}
        return self.show_part("console/parts/item_progress.html", context)

    def _facts(self, item: Item) -> dict[str, Any]:
        """All about the item but its text."""
        is_own = item.owner_id == self.person.pk
        folders = list_folders(self.access)
        original = self._original(item) if is_own else None
        return {
            "item": item,
            "content": item.content,
            "is_own": is_own,
            "folders": folders,
            "folder_names": {folder.pk: folder.name for folder in folders},
            "tags": common_tags(self.access),
            "original": original,
            "media": _media_of(original),
            "related": self._related(item) if is_own else [],
            "added_by": self._added_by(item) if is_own else "",
            "can_retry": is_own and _has_failed(item),
            **self._summary(item, is_own=is_own),
        }

    def _original(self, item: Item) -> Original | None:
        try:
            return get_original(self.access, item.pk)
        except NotFound:
            return None

    def _related(self, item: Item) -> list[Node]:
        asked = ExploreRequest(mode="related", entity_id=item.pk, limit=MOST_RELATED)
        return explore(self.access, asked).nodes

    def _added_by(self, item: Item) -> str:
        if item.added_by_token is None:
            return "you"
        tokens = Token.objects.of_owner(self.person.pk).filter(pk=item.added_by_token)
        name = tokens.values_list("name", flat=True).first() or "a token that is gone"
        return f"{name} ({item.added_by_agent})" if item.added_by_agent else name

    def _summary(self, item: Item, *, is_own: bool) -> dict[str, Any]:
        """The summary, or what one would cost, or why there can be none."""
        if not is_own or not item.content.is_ready:
            return {}
        try:
            return {"summary_usd": estimate_transform(self.access, item.pk)}
        except QuarryError as error:
            return {"no_summary": for_people(error)}


class ItemPartView(ConsoleView):
    """The next part of a long text."""

    def get(self, request: HttpRequest, item_id: UUID, number: int) -> HttpResponse:
        item = get_item(self.access, item_id)
        reading = Reading(item.content)
        context = {
            "item": item,
            "content": item.content,
            "part": reading.part(number),
            "reading": reading,
            "original": _upload_of(self, item),
            "only": request.GET.get("only", ""),
        }
        return self.show_part("console/parts/text_part.html", context)


class ItemChangeView(ConsoleView):
    """A view that changes one item and comes back to it."""

    def back(self, item_id: UUID) -> HttpResponse:
        return self.go(reverse("console:item", args=[item_id]))


class ChangeItemView(ItemChangeView):
    """Its title, its tags, and whether it is searched and shown."""

    def post(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        asked = request.POST
        changes = ItemChanges(
            title=asked.get("title"),
            tags=split_tags(asked["tags"]) if "tags" in asked else None,
            in_kb=_flag(asked, "in_kb"),
            archived=_flag(asked, "archived"),
        )
        update_item(self.undoable, item_id, changes)
        self.tell(_said(changes), can_undo=True)
        return self.back(item_id)


class FileItemView(ItemChangeView):
    """The folders it is in: those that are ticked, and no others."""

    def post(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        wanted = {as_id(value, field="folder") for value in request.POST.getlist("folder")}
        name = request.POST.get("new_folder", "")
        refile_item(self.undoable, item_id, wanted, new_folder=name)
        self.tell("Folders changed.", can_undo=True)
        return self.back(item_id)


class ItemActionView(ItemChangeView):
    """What is done by one button."""

    def post(self, request: HttpRequest, item_id: UUID, action: str) -> HttpResponse:
        match action:
            case "delete":
                title = get_item(self.access, item_id).title
                delete_item(self.undoable, item_id)
                self.tell(f"“{title[:60]}” deleted.", can_undo=True)
                return self.go(reverse("console:library"))
            case "retry":
                retry_item(self.access, item_id)
                self.tell("Trying again.")
            case "summarize":
                transform_item(self.access, item_id)
                self.tell("The summary is being written; it will be here in a minute.")
            case _:
                raise NotFound("There is no such action.")
        return self.back(item_id)


def span_asked(asked: QueryDict) -> Span | None:
    """The characters that a link wants to be marked: `?at=10,90`."""
    found = _SPAN.fullmatch(asked.get("at", ""))
    return (int(found[1]), int(found[2])) if found else None


def _number(asked: str | None) -> int:
    return int(asked) if asked and asked.isdecimal() and len(asked) < 6 else 1


def _flag(asked: QueryDict, name: str) -> bool | None:
    if name not in asked:
        return None
    if asked[name] not in ("0", "1"):
        raise InvalidInput(f"{name} must be 0 or 1.", field=name)
    return asked[name] == "1"


def _said(changes: ItemChanges) -> str:
    if changes.archived is not None:
        return "Archived." if changes.archived else "Back in the library."
    if changes.in_kb is not None:
        return "Search finds it now." if changes.in_kb else "Search does not find it any more."
    return "Renamed." if changes.title is not None else "Tags changed."


def _has_failed(item: Item) -> bool:
    is_unindexed = item.content.is_ready and item.index_status == IndexStatus.FAILED
    return item.content.state == "failed" or is_unindexed


def _media_of(original: Original | None) -> str:
    """Which element shows the file: audio, video or picture; none for other files."""
    if original is None:
        return ""
    kind = original.upload.media_type
    if kind in SHOWN:
        return "picture"
    return kind.partition("/")[0] if kind.startswith(("audio/", "video/")) else ""


def _upload_of(view: ConsoleView, item: Item) -> Original | None:
    try:
        return get_original(view.access, item.pk)
    except NotFound:
        return None
