"""The library: what there is, and the search over it."""

from django.http import HttpRequest, HttpResponse

from console.pages import ConsoleView
from knowledge.library.items import list_recent


class LibraryView(ConsoleView):
    """Recent items when nothing is asked, otherwise what the engine finds."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("console/library.html", {"recent": list_recent(self.access)})
