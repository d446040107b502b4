"""A caller's own words, said back to it."""


def printable(name: str) -> str:
    """Safe to repeat in an error: short, and valid Unicode."""
    return name[:60].encode("ascii", "backslashreplace").decode()
