"""The files that items were read from: to download, to look at and to listen to."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from console.pages import ConsoleView
from knowledge.api.originals import send_original
from knowledge.errors import NotFound
from knowledge.library.originals import get_original
from knowledge.library.page_pictures import draw_page

SHOWN = {"image/png", "image/jpeg", "image/webp", "image/gif"}
"""Pictures that a browser shows and that can hold no script, as SVG can."""


class OriginalView(ConsoleView):
    """The file as it was uploaded, always as a download."""

    def get(self, request: HttpRequest, item_id: UUID) -> HttpResponseBase:
        return send_original(request, get_original(self.access, item_id))


class MediaView(ConsoleView):
    """A picture or recording for the reader's own elements."""

    def get(self, request: HttpRequest, item_id: UUID) -> HttpResponseBase:
        original = get_original(self.access, item_id)
        if not is_shown(original.upload.media_type):
            raise NotFound("Only pictures and recordings are shown; download the file instead.")
        return send_original(request, original, as_attachment=False)


def is_shown(media_type: str) -> bool:
    return media_type in SHOWN or media_type.startswith(("audio/", "video/"))


class PagePictureView(ConsoleView):
    """A page of a PDF as a picture; a stored file never changes, so it is kept by the browser."""

    def get(self, request: HttpRequest, item_id: UUID, page: int) -> HttpResponse:
        response = HttpResponse(draw_page(self.access, item_id, page), content_type="image/webp")
        response["Cache-Control"] = "private, max-age=604800, immutable"
        response["Content-Security-Policy"] = "sandbox; default-src 'none'"
        return response
