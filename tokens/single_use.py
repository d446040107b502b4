"""Forms that mint once: sent again, by a reload or a double click, they are refused."""

from uuid import uuid4

from django.core import signing
from django.core.cache import caches

_LIVES_SEC = 24 * 60 * 60
_SALT = "tokens.single_use"


class SentBefore(Exception):
    """This very form was used before."""


def new_form_id() -> str:
    return signing.dumps(uuid4().hex, salt=_SALT)


def read_form_id(form_id: str) -> str:
    """What is signed in it; raises BadSignature for one that is too old or not of ours."""
    known: str = signing.loads(form_id, salt=_SALT, max_age=_LIVES_SEC)
    return known


def spend(known: str) -> None:
    """Use a form up; of two that are sent at once, one waits for the other and fails."""
    if not caches["limits"].add(f"minted:{known}", 1, timeout=_LIVES_SEC):
        raise SentBefore
