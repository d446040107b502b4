"""Functions of Python's standard library: the first line of its docstring finds the function.

The docstring itself is taken out of the code. `python-long-code` has the functions that are longer
than an embedder of 512 tokens reads at once.
"""

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from benchmarks.collections.writing import Pair, run, write_collection

_LINES, _MANY_LINES = range(8, 60), range(60, 160)
_NO_PACKAGES = ("site-packages", "test")
_MOST = 6
"""Functions of one module, so that no large one is most of the collection."""
_WORDS = range(5, 30)


def make(folder: Path) -> None:
    library = Path(sysconfig.get_path("stdlib"))
    modules = sorted(library.glob("*.py"))
    packages = [path for path in library.glob("*/*.py") if path.parent.name not in _NO_PACKAGES]
    short = [pair for path in modules for pair in _functions(path, _LINES)]
    long = [
        pair for path in sorted([*modules, *packages]) for pair in _functions(path, _MANY_LINES)
    ]
    write_collection(folder / "python-code", short)
    write_collection(folder / "python-long-code", long)


def _functions(path: Path, sizes: range) -> Iterator[Pair]:
    source = path.read_text(errors="replace")
    lines, count = source.splitlines(), 0
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef) or not (said := ast.get_docstring(node)):
            continue
        question = " ".join(said.split("\n\n")[0].split())
        size = (node.end_lineno or 0) - node.lineno
        if size in sizes and len(question.split()) in _WORDS and count < _MOST:
            count += 1
            body = lines[node.lineno - 1 : node.body[0].lineno - 1]
            body += lines[node.body[0].end_lineno or 0 : node.end_lineno]
            yield Pair(question, "", "```python\n" + "\n".join(body) + "\n```")


if __name__ == "__main__":
    run(__doc__, make)
