"""What a browser may do on each page: nothing from elsewhere, nothing inline, and in no frame.

Django's SecurityMiddleware adds Referrer-Policy, nosniff and Cross-Origin-Opener-Policy.
"""

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
# Passkeys, the buttons that copy and the player need something; nothing asks for the rest.
_PERMISSIONS = ", ".join(
    [f"{name}=(self)" for name in ("clipboard-write", "fullscreen", "picture-in-picture")]
    + [f"publickey-credentials-{name}=(self)" for name in ("create", "get")]
    + [
        f"{name}=()"
        for name in (
            *("accelerometer", "autoplay", "browsing-topics", "camera", "clipboard-read"),
            *("display-capture", "encrypted-media", "geolocation", "gyroscope", "hid"),
            *("identity-credentials-get", "idle-detection", "magnetometer", "microphone"),
            *("midi", "payment", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking"),
        )
    ]
)
_DOCS = "/api/v1/docs/"
_POLICIES = (("/admin/", _ADMIN), (_DOCS, _API_DOCS))
_NEVER_CACHED = ("/accounts/", "/oauth/")
_CONSENT = "/oauth/authorize"
_SIGN_IN, _SECOND_FACTOR = "/accounts/login/", "/accounts/2fa/authenticate/"


class PagePolicy:
    """Adds each page's policies where the view has none, and keeps accounts out of caches."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Content-Security-Policy", _policy_for(request))
        response.setdefault("Permissions-Policy", _PERMISSIONS)
        if request.path.startswith(_DOCS):
            # Swagger's view would have the windows it opens speak to it; ours opens none.
            response["Cross-Origin-Opener-Policy"] = "same-origin"
        elif _leads_to_consent(request):
            response.setdefault("Cross-Origin-Opener-Policy", "unsafe-none")
        if request.path.startswith(_NEVER_CACHED):
            response.setdefault("Cache-Control", "no-store")
        return response


class SecureCookies:
    """Marks cookies Secure on whatever came by TLS; outside production, plain HTTP works too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.is_secure():
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response


def _leads_to_consent(request: HttpRequest) -> bool:
    """Whether a client that opened the page in a window waits for the person's consent there.

    A page that cut the window from its opener would leave that client waiting for ever.
    """
    leads_to = request.path
    if request.path == _SIGN_IN:
        leads_to = request.GET.get("next", "")
    elif request.path == _SECOND_FACTOR:
        leads_to = str(request.session.get("account_login", {}).get("redirect_url"))
    return leads_to.partition("?")[0] == _CONSENT


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
