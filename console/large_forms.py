"""Forms that send files: taken beyond the usual size, but only of people who are signed in."""

from knowledge.api.asgi import Message

PATHS = ("/add/files", "/add/imports")
MAX_BYTES = 60_000_000
"""Scripts send each file by itself, of any size; this is for browsers without, and for exports."""
MAX_SEC = 3600


def is_large_form(scope: Message) -> bool:
    """Whether this request may send files by a form."""
    return scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in PATHS
