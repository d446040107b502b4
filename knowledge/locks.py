"""Every advisory lock that Quarry takes in Postgres, so that no two things share one by accident.

Keys are ranges that do not overlap: what stands in `Lock` is positive and fits 32 bits, alone or
as the first of two keys; a content or a host is below 2**62; a worker is from 2**62 on; a name is
negative. Releases may run side by side during an upgrade: never change a number that was released.
"""

import secrets
from enum import IntEnum, unique

_FIRST_THING = 2**32
_FIRST_WORKER = 2**62

NAME_KEY = "hashtextextended(%s, 0) | (1::bigint << 63)"
"""The key of a name, in SQL."""


@unique
class Lock(IntEnum):
    """A lock that is known by its number, whether it is taken alone or with an owner's id."""

    INDEX_WRITERS = 7_361_001
    """Writers of the index share it; a change of generation has it alone."""

    DEPENDENCIES = 7_361_002
    """With an owner's id: dependencies are added one by one, so that no two close a cycle."""

    REINDEX = 7_361_003
    """Held by the one `manage.py reindex` that may run."""

    REPUTATION = 7_361_004
    """Judgments are counted one by one, or two counts would miss each other's."""

    IMPORT = 7_361_005
    """With an owner's id: one import at a time into a library."""

    COUNTED_ROWS = 7_361_007
    """With an owner's id: rows of which there may be so many are counted and added one by one."""

    SCHEDULER = 7_361_006
    """Held by the one worker that sends the sweeps."""

    PACKING = 7_361_019
    """With an owner's id: one packing of a library's words at a time."""

    FIRST_RUN = 0x51554152
    """One process makes the first user and the first token."""


def thing_key(number: int) -> int:
    """The key of one content or host, by a number that is spread over 62 bits or more."""
    return max(number % _FIRST_WORKER, _FIRST_THING)


def new_worker_key() -> int:
    """A key that no other worker has."""
    return _FIRST_WORKER + secrets.randbelow(_FIRST_WORKER)
