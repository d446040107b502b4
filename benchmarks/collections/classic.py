"""The small test collections of the 1960s to 1980s, as the University of Glasgow keeps them.

CISI, CACM, LISA, MED, NPL and TIME, each from the folder of its name. Some may be used for research
alone, so they are not ours to ship. LISA and TIME are all in capitals, LISA's questions are wordy,
and NPL's abstracts have no punctuation.
"""

import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.collections.writing import write_collection_rows


class Classic(NamedTuple):
    """Titles and texts of documents, questions, and which documents answer each."""

    documents: Mapping[str, tuple[str, str]]
    questions: Mapping[str, str]
    answers: Mapping[str, list[str]]


def make(folder: Path, source: Path) -> None:
    for name, read in _READERS.items():
        if (source / name).is_dir():
            one = read(source / name)
            write_collection_rows(folder / name, one.documents, one.questions, one.answers)


# Marked by a letter: `.I 7`, `.T`, `.W` ----------------------------------------------------------


def _read_cisi(source: Path) -> Classic:
    return _read_marked(source / "CISI.ALL", source / "CISI.QRY", source / "CISI.REL", answer=1)


def _read_cacm(source: Path) -> Classic:
    names = ("cacm.all", "query.text", "qrels.text")
    return _read_marked(*(source / name for name in names), answer=1)


def _read_med(source: Path) -> Classic:
    return _read_marked(source / "MED.ALL", source / "MED.QRY", source / "MED.REL", answer=2)


def _read_marked(documents: Path, questions: Path, judged: Path, *, answer: int) -> Classic:
    answers: dict[str, list[str]] = {}
    for line in judged.read_text().splitlines():
        if parts := line.split():
            answers.setdefault(str(int(parts[0])), []).append(str(int(parts[answer])))
    texts = {number: (one.get("T", ""), one.get("W", "")) for number, one in _records(documents)}
    asked = {number: _one_line(one["W"]) for number, one in _records(questions)}
    return Classic(texts, asked, answers)


def _records(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for record in re.split(r"^\.I +", path.read_text(errors="replace"), flags=re.M)[1:]:
        number, _, rest = record.partition("\n")
        parts = re.split(r"^\.([A-Z])\n", rest, flags=re.M)
        yield number.strip(), dict(zip(parts[1::2], parts[2::2], strict=True))


# Each in a way of its own ------------------------------------------------------------------------


def _read_lisa(source: Path) -> Classic:
    whole = "".join(path.read_text() for path in sorted(source.glob("LISA[0-9].*")))
    documents = {}
    for record in re.split(r"^\*{20,}\n", whole, flags=re.M):
        if found := re.match(r"\s*Document +(\d+)\n(.*?)\n\s*\n(.*)", record, re.S):
            documents[found[1]] = (_one_line(found[2]), found[3])
    asked = re.findall(r"(\d+)\n(.*?)#", (source / "LISA.QUE").read_text(), re.S)
    judged = re.findall(r"Query (\d+)\n.*?Refs:\n(.*?)-1", (source / "LISA.REL").read_text(), re.S)
    return Classic(documents, _one_lines(asked), {number: of.split() for number, of in judged})


def _read_npl(source: Path) -> Classic:
    def numbered(name: str) -> list[tuple[str, str]]:
        return re.findall(r"^(\d+)\n(.*?)^ *\/", (source / name).read_text(), re.S | re.M)

    documents = {number: ("", text) for number, text in numbered("doc-text")}
    answers = {number: of.split() for number, of in numbered("rlv-ass")}
    return Classic(documents, _one_lines(numbered("query-text")), answers)


def _read_time(source: Path) -> Classic:
    texts = re.split(r"^\*TEXT.*$", (source / "TIME.ALL").read_text(), flags=re.M)[1:]
    asked = re.findall(r"^\*FIND +(\d+)\n([^*]*)", (source / "TIME.QUE").read_text(), re.M)
    judged = [
        line.split() for line in (source / "TIME.REL").read_text().splitlines() if line.strip()
    ]
    documents = {
        str(number): ("", text.replace("\n\n", "\n").removesuffix("*STOP"))
        for number, text in enumerate(texts, start=1)
    }
    return Classic(documents, _one_lines(asked), {number: of for number, *of in judged})


def _one_lines(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return {number: _one_line(text) for number, text in pairs}


def _one_line(text: str) -> str:
    return " ".join(text.split())


_READERS: dict[str, Callable[[Path], Classic]] = {
    "cacm": _read_cacm,
    "cisi": _read_cisi,
    "lisa": _read_lisa,
    "med": _read_med,
    "npl": _read_npl,
    "time": _read_time,
}


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, help="where to write the collections")
    options.add_argument("source", type=Path, help="where the folders of the originals are")
    given = options.parse_args()
    make(given.folder, given.source)
