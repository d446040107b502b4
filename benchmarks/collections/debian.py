"""Debian's own descriptions of its packages, from the database of an installed system.

`debian-short`: the one line of a package finds its description. `debian-long`: the description, a
very long question, finds the line, a title without a text.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.collections.writing import Pair, run, write_collection

_FORMAT = "${binary:Package}\x1f${Description}\x1e"
_SHORTEST = 200


def make(folder: Path) -> None:
    found = list(_descriptions())
    short = [Pair(line, "", text) for line, text in found]
    long = [Pair(text, line, "") for line, text in found]
    write_collection(folder / "debian-short", short)
    write_collection(folder / "debian-long", long)


def _descriptions() -> Iterator[tuple[str, str]]:
    listed = subprocess.run(
        ["dpkg-query", "--show", f"--showformat={_FORMAT}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seen = set[str]()
    for row in listed.split("\x1e"):
        line, _, text = row.partition("\x1f")[2].partition("\n")
        text = "\n".join(part.strip().removeprefix(".") for part in text.splitlines())
        if len(text) >= _SHORTEST and not {line, text} & seen:
            seen |= {line, text}
            yield line, text


if __name__ == "__main__":
    run(__doc__, make)
