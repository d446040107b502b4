"""What a browser may do on each page: nothing from elsewhere, nothing inline, and in no frame."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

_COMMON = (
    "default-src 'none'; font-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; frame-ancestors 'none'; "
)
_PAGES = (
    f"{_COMMON}script-src 'self'; style-src 'self'; media-src 'self'; manifest-src 'self'; "
    "form-action "
)
# Unfold brings Alpine, which evaluates the attributes of its elements.
_ADMIN = (
    f"{_COMMON}script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; form-action 'self'"
)
# Swagger's page starts itself by a script of its own.
_API_DOCS = (
    f"{_COMMON}script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "form-action 'none'"
)
_POLICIES = (("/admin/", _ADMIN), ("/api/v1/docs/", _API_DOCS))
_NEVER_CACHED = ("/accounts/", "/oauth/")


class PagePolicy:
    """Adds a Content-Security-Policy where the view has none, and keeps accounts out of caches."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Content-Security-Policy", _policy_for(request))
        if request.path.startswith(_NEVER_CACHED):
            response.setdefault("Cache-Control", "no-store")
        return response


def _policy_for(request: HttpRequest) -> str:
    for path, policy in _POLICIES:
        if request.path.startswith(path):
            return policy
    return _PAGES + _form_action(request)


def _form_action(request: HttpRequest) -> str:
    """Where forms may lead: browsers hold the redirect after the consent form to it as well."""
    target = urlsplit(getattr(request, "form_target", ""))
    if not target.scheme:
        return "'self'"
    is_web = target.scheme in ("http", "https")
    return f"'self' {target.scheme}://{target.netloc}" if is_web else f"'self' {target.scheme}:"
