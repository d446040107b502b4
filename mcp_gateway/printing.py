"""A caller's own words, said back to it."""


def printable(name: str) -> str:
    """Fit to be said back: short, and without broken Unicode."""
    return name[:60].encode("ascii", "backslashreplace").decode()
