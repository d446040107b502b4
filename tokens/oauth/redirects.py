"""Where a client may have people sent back to."""

from urllib.parse import urlsplit

from oauth2_provider.settings import oauth2_settings

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_LONGEST = 2000


def is_acceptable(uri: str) -> bool:
    """An https page, a loopback address of the person's own machine, or a known app's scheme."""
    if len(uri) > _LONGEST or "#" in uri or not uri.isascii() or not uri.isprintable():
        return False
    if any(sign in uri for sign in ' "<>\\^`{|}*'):
        return False
    try:
        parts = urlsplit(uri)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc:
        return False
    if parts.scheme == "http":
        return host in _LOOPBACK
    return parts.scheme in oauth2_settings.ALLOWED_REDIRECT_URI_SCHEMES


def host_of(uri: str) -> str:
    """What a person should recognise: the host, or the app's own scheme."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in ("http", "https") else f"{parts.scheme}://{parts.netloc}"


def is_on_this_machine(uri: str) -> bool:
    return urlsplit(uri).hostname in _LOOPBACK
