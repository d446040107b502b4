"""How an operator writes limits that differ from those in the table of asks."""

from collections.abc import Mapping

from knowledge.asks import Ask

MAX_PER_HOUR = 1_000_000


def parse_limits(text: str) -> dict[str, int]:
    """The limits in `add=120,search=5000`, by commas or lines; ValueError says what is wrong."""
    limits: dict[str, int] = {}
    for pair in text.replace("\n", ",").split(","):
        if not pair.strip():
            continue
        name, _, number = (part.strip() for part in pair.partition("="))
        if name not in list(Ask):
            raise ValueError(f"{name!r} is no ask; the asks are {', '.join(sorted(Ask))}.")
        if not (number.isascii() and number.isdecimal() and 1 <= int(number) <= MAX_PER_HOUR):
            raise ValueError(
                f"{name} must be a whole number from 1 to {MAX_PER_HOUR:,}, as in add=120; "
                f"it is {number!r}."
            )
        limits[name] = int(number)
    return limits


def write_limits(limits: Mapping[str, int]) -> str:
    """Limits as `parse_limits` reads them."""
    return ", ".join(f"{name}={number}" for name, number in sorted(limits.items()))
