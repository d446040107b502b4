"""What a look at this server found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: `ok`, `note` or `fail`, what was seen, and what to do about it."""

    about: str
    state: str
    seen: str
    fix: str = ""
