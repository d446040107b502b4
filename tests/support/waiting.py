"""Waiting for what another process or thread brings about."""

import time
from collections.abc import Callable

DEADLINE = 300
"""Seconds: many times what anything needs, since a busy machine proves nothing."""


def eventually(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline, "It did not come to hold in time."
        time.sleep(0.02)
