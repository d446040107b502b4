"""Debian's own descriptions of its packages, from the database of an installed system.

`debian-short`: the one line of a package finds its description. `debian-long`: the description, a
very long question, finds the line, a title without a text. `debian-tables`: what a long table says
of a package, where another says something else of it, by the characters of its row.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.collections import SpanQuestion
from benchmarks.collections.writing import Pair, run, write_collection, write_spans

_DESCRIPTIONS = "${binary:Package}\x1f${Description}\x1e"
_TABLES = {
    "sizes": ("Installed size in kB", "Architecture", "${Installed-Size}", "${Architecture}"),
    "people": ("Maintainer", "Homepage", "${Maintainer}", "${Homepage}"),
    "origins": ("Source package", "Section", "${source:Package}", "${Section}"),
}
"""Two columns beside the package, and what dpkg writes into them."""
_SHORTEST = 200


def make(folder: Path) -> None:
    found = list(_descriptions())
    short = [Pair(line, "", text) for line, text in found]
    long = [Pair(text, line, "") for line, text in found]
    write_collection(folder / "debian-short", short)
    write_collection(folder / "debian-long", long)

    _make_tables(folder / "debian-tables")


def _make_tables(folder: Path) -> None:
    texts: dict[str, str] = {}
    asked: list[SpanQuestion] = []
    for name, (first, second, *fields) in _TABLES.items():
        text = f"# Packages\n\n| Package | {first} | {second} |\n|---|---|---|\n"
        for row in _packages("${binary:Package}\x1f" + "\x1f".join(fields) + "\x1e"):
            cells = row.split("\x1f")
            line = f"| {' | '.join(cells)} |"
            span = (len(text), len(text) + len(line))
            question = f"What is the {(first, second)[len(asked) % 2].lower()} of {cells[0]}?"
            asked.append(SpanQuestion(question, name, [span]))
            text += f"{line}\n"
        texts[name] = text
    write_spans(folder, texts, asked)


def _packages(format: str) -> list[str]:
    listed = subprocess.run(
        ["dpkg-query", "--show", f"--showformat={format}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [row for row in listed.split("\x1e") if row]


def _descriptions() -> Iterator[tuple[str, str]]:
    seen = set[str]()
    for row in _packages(_DESCRIPTIONS):
        line, _, text = row.partition("\x1f")[2].partition("\n")
        text = "\n".join(part.strip().removeprefix(".") for part in text.splitlines())
        if len(text) >= _SHORTEST and not {line, text} & seen:
            seen |= {line, text}
            yield line, text


if __name__ == "__main__":
    run(__doc__, make)
