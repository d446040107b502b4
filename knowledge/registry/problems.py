"""Everything that is wrong with a contribution, told at once."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from knowledge.errors import InvalidInput

MOST_TOLD = 100
MOST_COUNTED = 1_000
"""Problems after which nobody looks for more: half a megabyte can hold 200,000."""

_LONGEST_STEP = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """Where something is wrong, and the rule that it breaks."""

    path: str
    message: str


def refuse_any(problems: Sequence[Problem], *, field: str, what: str) -> None:
    """Refuse what has problems, naming the first in the sentence and all of them beside it."""
    if not problems:
        return
    first, count = problems[0], len(problems)
    told = [asdict(problem) for problem in problems[:MOST_TOLD]]
    where = "all" if count <= MOST_TOLD else f"the first {MOST_TOLD}"
    more = f" and {count - 1:,} more; {where} are in errors" if count > 1 else ""
    raise InvalidInput(
        f"{what} is not valid: {first.path} {first.message}{more}.",
        field=field,
        errors=told,
        error_count=count,
    )


def path_to(steps: Iterable[str | int]) -> str:
    """A place in a document as people write it: `steps[2].tool.name`."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{printable(step)}" if path else printable(step)
    return path or "the whole"


def printable(name: str, *, longest: int = _LONGEST_STEP) -> str:
    """A name as an error can quote it, whatever characters it is made of."""
    return name[:longest].encode("utf-8", "backslashreplace").decode().replace("\x00", "\\0")
