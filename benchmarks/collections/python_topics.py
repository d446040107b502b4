"""The topics of Python's own help: the first paragraph finds the rest of its topic.

Long documents, all in capitals, and questions in prose.
"""

from pathlib import Path
from pydoc_data.topics import topics

from benchmarks.collections.writing import Pair, run, write_collection

_SHORTEST = 80
_LONGEST_TEXT = 8_000


def make(folder: Path) -> None:
    pairs = []
    for topic in topics.values():
        parts = [part for part in topic.split("\n\n") if not _is_title(part)]
        opening = next((part for part in parts if len(part) >= _SHORTEST), "")
        rest = "\n\n".join(part for part in parts if part != opening)[:_LONGEST_TEXT]
        if opening and len(rest) >= _SHORTEST:
            pairs.append(Pair(" ".join(opening.split()).upper(), "", rest.upper()))
    write_collection(folder / "python-topics", pairs)


def _is_title(part: str) -> bool:
    return part.strip().endswith(("***", "===", "---"))


if __name__ == "__main__":
    run(__doc__, make)
