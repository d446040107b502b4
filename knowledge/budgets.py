"""What one request may take, and why: the numbers that its size and its cost are held to.

No request takes more than 100 ms of processor time in the web process, which everybody shares.
What a caller sends is bounded in bytes before it is parsed and in values when it is; every text is
read in time that grows with its length alone; and what is longer than its budget here is read by
a reader process while the call waits, or by a job afterwards. docs/security.md shows this table,
`benchmarks/fuzz` measures every route and tool against it.
"""

from typing import NamedTuple


class Budget(NamedTuple):
    """A bound, what it counts, and the reason for it."""

    most: int
    unit: str
    reason: str


MEGABYTE = 1024 * 1024

WEB_CPU_MS = Budget(
    100, "ms of CPU", "what one request may take in the web process; others wait for as long"
)
WEB_MEGABYTES = Budget(
    30, "MB", "what one request may add to the memory of the web process while it lasts"
)

LONG_BODY = Budget(
    8 * MEGABYTE, "bytes", "a text of 500,000 characters, each escaped to twelve bytes of JSON"
)
MEMORY_BODY = Budget(MEGABYTE, "bytes", "a memory of 50,000 characters, escaped, with its metadata")
SHORT_BODY = Budget(
    MEGABYTE // 2, "bytes", "a query of 10,000 characters or 100 patterns of 200, escaped"
)
BODIES = {
    "/api/v1/ingest": LONG_BODY,
    "/api/v1/skills": LONG_BODY,
    "/api/v1/knowledge": LONG_BODY,
    "/api/v1/memory/batch": LONG_BODY,
    "/api/v1/memory": MEMORY_BODY,
    "/api/v1/tasks": MEMORY_BODY,
    "/api/v1/": SHORT_BODY,
    "/mcp": LONG_BODY,
    "/": LONG_BODY,
}
"""By the beginning of the path, the first that fits; files and archives have gates of their own."""

JSON_VALUES = Budget(
    20_000, "values", "a body of 8 MB can hold four million, which take seconds and 200 MB to parse"
)
READ_IN_PLACE = Budget(
    10_000,
    "characters",
    "cut and indexed in the web process at up to 4 µs each; a reader does more",
)
SCREEN_IN_PLACE = Budget(
    3_000, "characters", "screened in the web process at up to 7 µs each; a reader does more"
)
SCREEN_AT_ONCE = Budget(
    20_000, "characters", "screened before a write is answered; a job reads all of a longer one"
)
ASSESS_IN_PLACE = Budget(
    5_000, "characters", "scored in the web process at up to 4 µs each; a reader does more"
)
RENDER_IN_PLACE = Budget(
    2_000, "characters", "Markdown made HTML in the web process at up to 13 µs each; as above"
)
EMBED_IN_PLACE = Budget(
    60,
    "tokens",
    "embedded in the web process at 0.25 ms each, twice for a skill; a reader does more",
)

ALL = {name: value for name, value in list(globals().items()) if isinstance(value, Budget)}
"""Each budget by its name."""


def body_budget(path: str) -> Budget:
    """What the body of a request to this path may have."""
    return next((bound for start, bound in BODIES.items() if path.startswith(start)), LONG_BODY)
