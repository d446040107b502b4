"""Folders: make, rename, delete."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.pages import ConsoleView
from console.sentences import for_people
from knowledge.errors import InvalidInput, NameTaken
from knowledge.library.items import (
    create_folder,
    delete_folder,
    get_folder,
    list_folders,
    rename_folder,
)


class FoldersView(ConsoleView):
    """All folders with what is in them, and a line that makes a new one."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page()

    def post(self, request: HttpRequest) -> HttpResponse:
        name = request.POST.get("name", "")
        try:
            folder = create_folder(self.undoable, name)
        except (NameTaken, InvalidInput) as error:
            return self._page(name=name, problem=for_people(error), status=422)
        self.tell(f"“{folder.name}” made.", can_undo=True)
        return self.go(reverse("console:folders"))

    def _page(self, *, status: int = 200, **context: Any) -> HttpResponse:
        folders = list_folders(self.access)
        return self.show("console/folders.html", {"folders": folders, **context}, status=status)


class FolderView(ConsoleView):
    """One folder: its new name, or its end."""

    def get(self, request: HttpRequest, folder_id: UUID) -> HttpResponse:
        return self._page(folder_id)

    def post(self, request: HttpRequest, folder_id: UUID) -> HttpResponse:
        if request.POST.get("action") == "delete":
            delete_folder(self.undoable, folder_id, cascade_items="items" in request.POST)
            self.tell("Folder deleted.", can_undo=True)
            return self.go(reverse("console:folders"))
        name = request.POST.get("name", "")
        try:
            folder = rename_folder(self.undoable, folder_id, name)
        except (NameTaken, InvalidInput) as error:
            return self._page(folder_id, name=name, problem=for_people(error), status=422)
        self.tell(f"The folder is called “{folder.name}” now.", can_undo=True)
        return self.go(reverse("console:folders"))

    def _page(self, folder_id: UUID, *, status: int = 200, **context: Any) -> HttpResponse:
        folder = get_folder(self.access, folder_id)
        return self.show("console/folder.html", {"folder": folder, **context}, status=status)
