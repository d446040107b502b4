"""SQL laid out for reading: a line for each clause, subqueries indented, lines of 100 at most."""

import re
from collections.abc import Iterator
from textwrap import wrap

_CLAUSE = re.compile(
    r"(LEFT |FULL |INNER )?JOIN|ORDER BY|GROUP BY|UNION( ALL)?|FROM|WHERE|LIMIT|SELECT|AND|OR"
)
_TOKEN = re.compile(rf"'[^']*'|%\(\w+\)s|[(),]| |\b(?:{_CLAUSE.pattern})\b|[^\s(),]+")
SHORT = 34
"""Characters up to which a subquery stays in its line."""

_NAME = re.compile(r'"(?!end")(\w+)"')

Tree = list["str | Tree"]


def laid_out(sql: str) -> str:
    """The same SQL, but for quotation marks around plain names."""
    text = _NAME.sub(r"\1", re.sub(r"\s+", " ", sql).strip())
    return "\n".join(_lines(_read(match[0] for match in _TOKEN.finditer(text)), ""))


def _read(tokens: Iterator[str]) -> Tree:
    """What stands between two parentheses, with what is within others as a tree of its own."""
    tree: Tree = []
    for token in tokens:
        if token == ")":
            return tree
        tree.append(_read(tokens) if token == "(" else token)
    return tree


def _lines(tree: Tree, indent: str) -> Iterator[str]:
    line = ""
    for part in tree:
        if isinstance(part, list) and _has_select(part) and len(_flat(part)) > SHORT:
            yield from _wrapped(line + "(", indent)
            yield from _lines(part, indent + "    ")
            line = ")"
        elif isinstance(part, list):
            line += _flat(part)
        elif _CLAUSE.fullmatch(part):
            yield from _wrapped(line, indent)
            line = part
        elif part == "," and line.startswith(")"):  # another CTE follows
            yield from _wrapped(line + part, indent)
            line = ""
        else:
            line += part
    yield from _wrapped(line, indent)


def _has_select(tree: Tree) -> bool:
    return any(part == "SELECT" or (isinstance(part, list) and _has_select(part)) for part in tree)


def _flat(tree: Tree) -> str:
    return "(" + "".join(part if isinstance(part, str) else _flat(part) for part in tree) + ")"


def _wrapped(line: str, indent: str) -> list[str]:
    return wrap(
        line.strip(),
        width=100,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
