"""Progress of an ask, reported to a listener, if an edge has set one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

STEPS = ("fetching", "reading", "indexing")
"""What adding a link goes through, in order."""

Listener = Callable[[str], None]

_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


@contextmanager
def report_to(listener: Listener | None) -> Iterator[None]:
    """Within this block, and on this thread alone, steps are told to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(step: str) -> None:
    """Say which of the steps begins now."""
    if listener := _listener.get():
        listener(step)
