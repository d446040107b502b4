"""Words that are turned: letters shifted along the alphabet, mirrored or written backwards."""

import re
from collections import defaultdict
from collections.abc import Iterator

from knowledge.screening.concepts import folded, lexicon
from knowledge.screening.findings import Span
from knowledge.screening.hidden_orders import Passage
from knowledge.screening.reading import ideas_of

_COMMON_WORDS = """
    the and you all this that with from your not any are for every now ignore send user
    instructions previous prompt assistant password conversation forget what they have will when
    tell into them their before answer delete is it of to in on at as be or if an
    der die und das nicht alle ist mit den dem ein von les des une est pas que los las con por del
    tous dans pour vous para una het een van niet
    """
_COMMON = frozenset(_COMMON_WORDS.split())
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_BACKWARDS, _MIRRORED = 0, 26
_NOT_REVERSED_WORDS = """
    sel red won sap sed nun eid sal noc si ti fo ot ni no ta sa eb ro fi na tu el la ed en
    der die las los nie net med neve era
    """
_NOT_REVERSED = frozenset(_NOT_REVERSED_WORDS.split())


def _mapping(way: int) -> dict[int, int]:
    turned = _ALPHABET[::-1] if way == _MIRRORED else _ALPHABET[way:] + _ALPHABET[:way]
    return str.maketrans(turned + turned.upper(), _ALPHABET + _ALPHABET.upper())


_TABLES = {way: _mapping(way) for way in range(1, 27)}


def _signatures() -> dict[str, list[int]]:
    """What common words become, and by which turn."""
    found: dict[str, list[int]] = defaultdict(list)
    for word in _COMMON:
        if len(word) >= 3 and word[::-1] not in _COMMON | _NOT_REVERSED:
            found[word[::-1]].append(_BACKWARDS)
        for way in range(1, 27):
            there = str.maketrans({into: out for out, into in _TABLES[way].items()})
            found[word.translate(there)].append(way)
    return found


_TURNED = _signatures()
_TELLTALE = frozenset(_TURNED) - _COMMON
_WORD = re.compile(r"[^\W\d_]+")
_LINE = re.compile(r"[^\n]{12,4000}")
_CLAUSE_END = re.compile(r"[:\"“”„«»()\[\]\n\t]|[.!?;]\s")
_FEWEST, _SHARE = 3, 0.15
_BY_PLACE = re.compile(
    r"(?i)\b(?:first|initial|last|leading|opening|capital|final)\s(?:letters?|words?|characters?)\b|\bacrostic|\binitials\b|\bevery\s(?:second|third|fourth|fifth|other)\s(?:word|letter)"
    r"|\banfangsbuchstabe\w*|\berste[nrs]?\s(?:buchstabe\w*|w[oö]rt\w*)|\bpremi[eè]re?s?\s(?:lettres?|mots?)|\bprimeras?\s(?:letras?|palabras?)|\bprim[ae]\s(?:letter[ae]|parol[ae])"
)
_INITIAL = re.compile(r"^\s{0,8}([^\W\d_])", re.MULTILINE)
_FIRST_WORD = re.compile(r"^\s{0,8}(?:[-*•\d.)]{1,4}\s)?([^\W\d_]+)", re.MULTILINE)
_LAST_WORD = re.compile(r"([^\W\d_]+)\W{0,4}$", re.MULTILINE)
_REACH = 20_000


def ciphers(text: str) -> Iterator[Passage]:
    """Clauses that are turned, and what the beginnings of lines spell."""
    for line in _LINE.finditer(text):
        if len(_TELLTALE.intersection(_WORD.findall(line[0].lower()))) >= 2:
            yield from _turned_clauses(text, line)
    yield from _by_place(text[:_REACH])


def _turned_clauses(text: str, line: re.Match[str]) -> Iterator[Passage]:
    words = list(_WORD.finditer(text, *line.span()))
    hits: dict[int, list[re.Match[str]]] = defaultdict(list)
    for word in words:
        known = word[0].lower()
        for way in _TURNED[known] if known in _TELLTALE else ():
            hits[way].append(word)
    for way, found in hits.items():
        distinct = {word[0].lower() for word in found}
        enough = 2 if way == _BACKWARDS else _FEWEST
        if len(found) < enough or len(distinct) < 2 or max(map(len, distinct)) < 3:
            continue
        start, end = _clause(text, found[0].start(), found[-1].end(), line.span())
        clause = text[start:end]
        inside = [word[0].lower() for word in words if start <= word.start() < end]
        if len(found) >= _SHARE * len(inside) and len(found) > sum(w in _COMMON for w in inside):
            for undone in _undone(clause, way):
                yield "encoded_text", undone, (start, end)


def _clause(text: str, first: int, last: int, line: Span) -> Span:
    """From the end of the clause before to the end of this one."""
    start = line[0]
    for end in _CLAUSE_END.finditer(text, line[0], first):
        start = end.end()
    after = _CLAUSE_END.search(text, last, line[1])
    return start, after.start() if after else line[1]


def _undone(clause: str, way: int) -> tuple[str, ...]:
    """Whole clauses are written backwards, or each word on its own."""
    if way != _BACKWARDS:
        return (clause.translate(_TABLES[way]),)
    return clause[::-1], _WORD.sub(lambda word: word[0][::-1], clause)


_LONGEST_RIDDLE = 3_000
"""Nobody reads a book by its initials, and by chance any book spells something."""


def _by_place(text: str) -> Iterator[Passage]:
    """Initials that spell an order; first and last words, too, where the text points at them."""
    if len(text) > _LONGEST_RIDDLE:
        return
    initials = "".join(_INITIAL.findall(text))
    if len(initials) >= 12:
        yield "disguised_text", lexicon().parted(folded(initials)), (0, len(text))
    pointer = _BY_PLACE.search(text)
    if pointer is None:
        return
    start, end = _sentence(text, pointer.start())
    rest = text[end:] if end < len(text) // 2 else text[:start]
    cue = text[start:end]
    spelt = lexicon().parted(folded("".join(_INITIAL.findall(rest))))
    lines = (" ".join(_FIRST_WORD.findall(rest)), " ".join(_LAST_WORD.findall(rest)), spelt)
    if ideas_of(cue):
        for words in lines:
            if words:
                yield "disguised_text", f"{cue.strip()} {words}", (start, len(text))


def _sentence(text: str, place: int) -> Span:
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, end if end >= 0 else len(text)
