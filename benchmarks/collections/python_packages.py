"""Packages of Python that are installed here: what their authors say of them finds their read-me.

`packages-summary`: one line finds a long document. `packages-keywords`: the keywords, a very short
question of words without a sentence.
"""

from collections.abc import Iterator
from email.message import Message
from importlib.metadata import distributions
from pathlib import Path
from typing import cast

from benchmarks.collections.writing import Pair, run, write_collection

_SHORTEST, _LONGEST = 400, 4_000


def make(folder: Path) -> None:
    found = list(_packages())
    summaries = [Pair(summary, "", text) for summary, _, text in found if summary]
    keywords = [Pair(words, "", text) for _, words, text in found if words]
    write_collection(folder / "packages-summary", summaries)
    write_collection(folder / "packages-keywords", keywords)


def _packages() -> Iterator[tuple[str, str, str]]:
    """Each package's summary and keywords, and its read-me without the summary."""
    seen = set[str]()
    for one in sorted(distributions(), key=lambda each: each.name.lower()):
        told = cast(Message, one.metadata)
        summary = told.get("Summary") or ""
        text = str(told.get_payload() or "").replace(summary, "")[:_LONGEST]
        words = " ".join((told.get("Keywords") or "").replace(",", " ").split())
        if len(text) >= _SHORTEST and text not in seen:
            seen.add(text)
            yield summary, words, text


if __name__ == "__main__":
    run(__doc__, make)
