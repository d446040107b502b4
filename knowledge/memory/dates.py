"""The days and months that a question names, as `on 7 May 2023`, `May 7th` or `2023-05`. Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun"),
            *("july jul", "august aug", "september sep sept", "october oct", "november nov"),
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b{_YEAR}-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>[0-2]\d|3[01]))?\b",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH}\b(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH}(?:\s+of)?,?\s+{_YEAR}\b",
    )
]


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A day or a month, perhaps of no particular year."""

    year: int | None
    month: int
    day: int | None

    def holds(self, moment: date) -> bool:
        return (
            self.month == moment.month
            and self.day in (None, moment.day)
            and self.year in (None, moment.year)
        )


def dates_named(question: str) -> list[NamedDate]:
    """Every date with a month and a day or a year; a month alone is too often just a word."""
    found: dict[NamedDate, None] = {}
    for form in _FORMS:
        for match in form.finditer(question):
            named = match.groupdict()
            month = _MONTHS.get(named["month"].lower()) or int(named["month"])
            day, year = named.get("day"), named.get("year")
            found[NamedDate(int(year) if year else None, month, int(day) if day else None)] = None
        question = form.sub(" ", question)
    return list(found)


def is_dated_in(moment: date, dates: Collection[NamedDate]) -> bool:
    return any(each.holds(moment) for each in dates)
