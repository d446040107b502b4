"""Texts that are dear to read, of any length: what each is made of, and who is likely to trip."""

import base64
import json
import random
from collections.abc import Callable

Make = Callable[[int], str]


def _repeat(part: str) -> Make:
    return lambda length: (part * (length // len(part) + 1))[:length]


def _numbered(pattern: str) -> Make:
    def make(length: int) -> str:
        count = length // max(1, len(pattern) - 1) + 1
        return "".join(pattern.replace("#N", str(number)) for number in range(count))[:length]

    return make


def _nest(opening: str, closing: str = "") -> Make:
    def make(length: int) -> str:
        depth = length // len(opening + closing)
        return (opening * depth + closing * depth).ljust(length, "x")

    return make


def _blob(length: int) -> str:
    return base64.b64encode(random.Random(7).randbytes(length * 3 // 4 + 3)).decode()[:length]


def _words(length: int) -> str:
    """Nothing that was read before: no cache of words helps."""
    chance = random.Random(11)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "".join("".join(chance.choices(letters, k=7)) + " " for _ in range(length // 8 + 1))[
        :length
    ]


def _prose(length: int) -> str:
    line = "Granite is quarried in blocks, and a block is cut along its seams into slabs. "
    return _repeat(line)(length)


HOSTILE: dict[str, Make] = {
    "prose": _prose,
    "passwords": _numbered("password#N: \n"),
    "passwords on one line": _numbered("password#N: "),
    "headings": _numbered("# h#N\n"),
    "nested headings": _repeat("# a\n## b\n### c\n#### d\n##### e\n###### f\n"),
    "underlined headings": _numbered("t#N\n==\n"),
    "codes": _repeat("code is 1234 "),
    "quotes": _nest(">"),
    "quotes by line": lambda length: "\n".join(
        "> " * (number % 60) + "q" for number in range(length // 60 + 1)
    )[:length],
    "brackets": _nest("["),
    "closed brackets": _nest("[", "]"),
    "links": _numbered("[a](http://b.c/#N) "),
    "open links": _repeat("[a]("),
    "pictures": _repeat("![a]("),
    "emphasis": _repeat("*a_"),
    "stars": _repeat("*"),
    "backticks": _numbered("`#N``"),
    "fences": _repeat("```\n"),
    "unclosed fences": _repeat("```a\n~~~b\n"),
    "longer fences": lambda length: "\n".join(
        "`" * (3 + number % 200) for number in range(length // 100 + 1)
    )[:length],
    "empty lines": _repeat("\n"),
    "blanks": _repeat(" "),
    "tabs and blanks": _repeat(" \t"),
    "blank lines": _repeat(" \n"),
    "carriage returns": _repeat("\r"),
    "one long word": _repeat("a"),
    "one long number": _repeat("7"),
    "capitals": _repeat("aB"),
    "combining": _repeat("e\u0301\u0302\u0303"),
    "only combining": _repeat("\u0301"),
    "reordered combining": _repeat("\u0315\u0300\u05ae"),
    "base64": _blob,
    "hex": _repeat("0a1b "),
    "percent": _repeat("%41"),
    "underscores": _repeat("a_b-"),
    "dots": _repeat("."),
    "points and letters": _repeat("a."),
    "colons": _repeat("a:"),
    "slashes": _repeat("a/b\\"),
    "at": _repeat("a@b."),
    "addresses": _repeat("http://a.b/c?d=e&"),
    "equal signs": _repeat("key="),
    "quotes in code": _repeat('"a": "b", '),
    "open quote": _repeat('key="'),
    "apostrophes": _repeat("'"),
    "angles": _repeat("<a "),
    "tags": _repeat("<b>"),
    "entities": _repeat("&amp;"),
    "tables": _repeat("|a|b|\n|-|-|\n"),
    "lists": lambda length: "\n".join(
        " " * (number % 80) + "- a" for number in range(length // 40 + 1)
    )[:length],
    "rules": _repeat("---\n"),
    "marks by line": _repeat("!\n"),
    "front matter": lambda length: ("---\n" + "a: b\n" * (length // 5))[:length],
    "turns": _repeat("Ann: yes\n"),
    "clocks": _repeat("[00:01:02] "),
    "chinese": _repeat("石头"),
    "hangul": _repeat("돌"),
    "emoji": _repeat("👩\u200d👩\u200d👧"),
    "zero width": _repeat("a\u200b"),
    "right to left": _repeat("\u202ea"),
    "ligatures": _repeat("\ufdfa"),
    "mixed scripts": _repeat("aа"),
    "sentences": _repeat("A. "),
    "new words": _words,
    "numbers": _numbered("#N "),
    "json": lambda length: json.dumps({"a": ["b"] * (length // 5)})[:length],
    "keys": _repeat("-----BEGIN RSA PRIVATE KEY-----\n"),
    "tokens": _numbered("ghp_0123456789abcdefghijklmnopqrstuv#N "),
    "long name": _repeat("secret_key_"),
    "repeated words": _repeat("word word "),
    "almost repeated": _repeat("ab ab ab abc "),
}

SHORT_FIELD = ("prose", "one long word", "combining")
FIRST_LOOK = ("prose", "only combining", "new words", "marks by line")
SECOND_LOOK = (
    *("passwords", "passwords on one line", "headings", "codes", "quotes", "brackets", "links"),
    *("dots", "empty lines", "one long word", "ligatures", "base64", "chinese", "front matter"),
    "numbers",
)
"""Of each sort the one that costs most, for fields that anything reads."""
DEAREST = (*FIRST_LOOK, *SECOND_LOOK)
"""`--all` takes every text there is."""
