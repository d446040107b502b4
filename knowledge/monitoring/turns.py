"""A call's turn to compute, which it gives to others while it only waits."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from django.db import connection


class Turn(Protocol):
    """What an edge that counts how many calls compute at once gives to each of them."""

    def pause(self) -> None:
        """Let another call compute."""

    def resume(self) -> None:
        """Wait until this one may compute again."""


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)


@contextmanager
def take_turn(turn: Turn) -> Iterator[None]:
    """Within this block, and on the threads that it starts work on, calls compute in this turn."""
    token = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(token)


@contextmanager
def while_waiting() -> Iterator[None]:
    """Others compute meanwhile: for work that another process or another site does for a call.

    Not within a transaction: those who wait for its rows may have all turns, and it would wait for
    one of these to go on.
    """
    turn = _turn.get()
    if turn is None or connection.in_atomic_block:
        yield
        return
    token = _turn.set(None)  # what waits within this waits already
    turn.pause()
    try:
        yield
    finally:
        turn.resume()
        _turn.reset(token)
