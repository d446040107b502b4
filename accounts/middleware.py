"""What a browser may do on the pages for people: nothing from elsewhere, and in no frame."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

_PATHS = ("/accounts/", "/oauth/")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action "
)


class PagePolicy:
    """Adds a Content-Security-Policy, and keeps the pages out of caches."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path.startswith(_PATHS):
            response["Content-Security-Policy"] = _POLICY + _form_action(request)
            response.setdefault("Cache-Control", "no-store")
        return response


def _form_action(request: HttpRequest) -> str:
    """Where forms may lead: browsers hold the redirect after the consent form to it as well."""
    target = urlsplit(getattr(request, "form_target", ""))
    if not target.scheme:
        return "'self'"
    is_web = target.scheme in ("http", "https")
    return f"'self' {target.scheme}://{target.netloc}" if is_web else f"'self' {target.scheme}:"
