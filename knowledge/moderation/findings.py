"""Screening of written texts: the beginning and end at once, long texts in full by a job."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Self

from knowledge.budgets import SCREEN_AT_ONCE, SCREEN_IN_PLACE
from knowledge.errors import InvalidInput
from knowledge.models import AllowedFinding
from knowledge.screening import Finding, Verdict, screen_document
from knowledge.sources.readers import LONG_TEXT, opened_readers

AT_ONCE = SCREEN_AT_ONCE.most
"""Characters of one write that are read before it is answered; a job reads all of a longer one."""
MOST_TOLD = 100
"""Findings of one kind that are told of one text; nobody reads more."""
_BEGINNING = 14_000
"""How many of these are its first ones; the others are its last."""


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """The secrets in a text, what looks like orders to a model, and whether all of it was read."""

    secrets: list[dict[str, Any]] = field(default_factory=list)
    orders: list[dict[str, Any]] = field(default_factory=list)
    is_whole: bool = True

    @property
    def all(self) -> list[dict[str, Any]]:
        return [*self.secrets, *self.orders]

    def without_secrets(self) -> Self:
        """The same, once it is sure that there is no secret: the write is refused otherwise."""
        refuse_secrets(self.secrets)
        return self


def screen_value(value: Any, *, in_full: bool = False) -> ScreeningResult:
    """Screen a text or JSON value; of a long one, only its beginning and its end."""
    [result] = screen_values([value], in_full=in_full)
    return result


def screen_values(values: Sequence[Any], *, in_full: bool = False) -> list[ScreeningResult]:
    """The same for several values, each by itself, which are read together."""
    read = [(value, True) if in_full else beginning_and_end(value) for value in values]
    verdicts = _screen([value for value, _ in read])
    return [
        ScreeningResult(
            each_once(_secrets(value, verdict.secrets) if verdict.secrets else []),
            each_once(map(_finding_fields, verdict.injections)),
            is_whole,
        )
        for (value, is_whole), verdict in zip(read, verdicts, strict=True)
    ]


def _screen(values: Sequence[Any]) -> list[Verdict]:
    """By a reader, where so much text would keep other callers waiting."""
    readers = opened_readers()
    length = sum(map(_length, values))
    if readers is None or length <= SCREEN_IN_PLACE.most:
        return [screen_document(value) for value in values]
    target = "knowledge.sources.parsers.screening:screen_each"
    found = readers.call(target, list(values), is_long=length > LONG_TEXT).value
    return [Verdict(tuple(Finding(*each) for each in of_one)) for of_one in found]


def refuse_secrets(secrets: Sequence[Mapping[str, Any]]) -> None:
    if not secrets:
        return
    first = secrets[0]
    where = "" if first["path"] in ("", "$") else f" (at {first['path']})"
    raise InvalidInput(
        f"This looks like a secret: {first['sentence'].removesuffix('.')}{where}. "
        "Take it out or put a placeholder in its place, and send it again. If it is none, an "
        f"admin can allow it by its fingerprint, {first['fingerprint']}.",
        findings=[dict(each) for each in secrets],
    )


def each_once(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The first findings, without repeats of the same rule at the same place."""
    told = {tuple(sorted(finding.items())): dict(finding) for finding in findings}
    return list(told.values())[:MOST_TOLD]


def without_allowed(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The findings but for values that an admin has said are no secrets."""
    told = [dict(each) for each in findings]
    marks = {each["fingerprint"] for each in told if "fingerprint" in each}
    known = AllowedFinding.objects.filter(fingerprint__in=marks) if marks else ()
    allowed = {each.fingerprint for each in known}
    return [each for each in told if each.get("fingerprint") not in allowed]


def fingerprint_of(value: str) -> str:
    """By what an admin allows a value that is no secret; the value itself is never stored."""
    return sha256(value.encode(errors="surrogatepass")).hexdigest()


def _secrets(value: Any, found: Iterable[Finding]) -> list[dict[str, Any]]:
    texts: dict[str, list[str]] = {}
    for path, text in _texts(value):
        texts.setdefault(path, []).append(text)
    return without_allowed(
        {**_finding_fields(each), "fingerprint": _fingerprint(each, texts.get(each.path, []))}
        for each in found
    )


def _fingerprint(finding: Finding, texts: Sequence[str]) -> str:
    """Of what was found; a key and its member have one path, and the longer has what was found."""
    text = next((each for each in texts if len(each) >= finding.end), "")
    return fingerprint_of(text[finding.start : finding.end])


def _finding_fields(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "rule": finding.rule,
        "sentence": finding.sentence,
        "path": finding.path,
    }


# A part of a long value -----------------------------------------------------------------------


def beginning_and_end(value: Any) -> tuple[Any, bool]:
    """A JSON value with no more text than is read at once, and whether that is all of it."""
    length = _length(value)
    if length <= AT_ONCE:
        return value, True
    return _Cut(length).part_of(value), False


class _Cut:
    """Takes the first and the last characters of a value, in the order in which they stand."""

    def __init__(self, length: int) -> None:
        self.at = 0
        self.end_from = length - (AT_ONCE - _BEGINNING)

    def part_of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._part_of_text(value)
        if isinstance(value, Mapping):
            parts = [
                (name, self._part_of_text(name), self.part_of(of)) for name, of in value.items()
            ]
            return {name: part for name, is_read, part in parts if is_read or _says(part)}
        if isinstance(value, Sequence):
            return [self.part_of(each) for each in value]
        return value

    def _part_of_text(self, text: str) -> str:
        start, self.at = self.at, self.at + len(text)
        if self.at <= _BEGINNING or start >= self.end_from:
            return text
        first, last = text[: max(0, _BEGINNING - start)], text[max(0, self.end_from - start) :]
        return "\n\n".join(filter(None, (first, last)))


def _length(value: Any) -> int:
    return sum(len(text) for _, text in _texts(value))


def _says(value: Any) -> bool:
    return any(text for _, text in _texts(value))


def _texts(value: Any, path: str = "$") -> Iterator[tuple[str, str]]:
    """Every string and key of a JSON value with its path, as the screening names it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield f"{path}.{name}", name
            yield from _texts(inner, f"{path}.{name}")
    elif isinstance(value, Sequence):
        for at, inner in enumerate(value):
            yield from _texts(inner, f"{path}[{at}]")
