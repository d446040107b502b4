"""How many calls an hour each ask has, and how an operator writes other numbers."""

from collections.abc import Mapping

PER_HOUR = {
    "search": 1000,
    "get_item": 1000,
    "list_recent": 1000,
    "list_items": 1000,
    "add": 60,
    "update_item": 60,
    "delete_item": 30,
    "file_item": 60,
    "list_folders": 1000,
    "create_folder": 60,
    "update_folder": 60,
    "delete_folder": 30,
    "begin_upload": 30,
    "finish_upload": 30,
    "retry": 60,
    "transform": 60,
    "webhooks": 60,
    "export": 10,
    "import": 10,
    "whoami": 1000,
    "activity": 1000,
    "usage": 1000,
    "explore": 1000,
    "context": 1000,
    "remember": 300,
    "manage_task": 300,
    "relate": 300,
    "sources": 1000,
    "crawl": 30,
    "registry": 1000,
    "contribute": 60,
    "validate": 300,
    "reputation": 1000,
    "providers": 1000,
    "register_provider": 60,
}
MAX_PER_HOUR = 1_000_000


def parse_limits(text: str) -> dict[str, int]:
    """The limits in `add=120,search=5000`, by commas or lines; ValueError says what is wrong."""
    limits: dict[str, int] = {}
    for pair in text.replace("\n", ",").split(","):
        if not pair.strip():
            continue
        name, _, number = (part.strip() for part in pair.partition("="))
        if name not in PER_HOUR:
            raise ValueError(f"{name!r} is no ask; the asks are {', '.join(sorted(PER_HOUR))}.")
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
