"""Dates that questions name, and what they do to an order."""

from datetime import UTC, datetime

import pytest

from knowledge.memory.dates import NamedDate, dates_named, is_dated_in


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did Ada say on 7 May 2023?", [NamedDate(2023, 5, 7)]),
        ("What did Ada say on May 7th, 2023?", [NamedDate(2023, 5, 7)]),
        ("What happened on the 3rd of July?", [NamedDate(None, 7, 3)]),
        ("Which trips were planned in Sept. 2022?", [NamedDate(2022, 9, None)]),
        ("Notes of 2024-02-29 and of 2024-03", [NamedDate(2024, 2, 29), NamedDate(2024, 3, None)]),
        ("What may we march for, and who is April?", []),
        ("Error 2023 at line 5 of main.py", []),
    ],
)
def test_days_and_months_are_read_however_they_are_written(
    question: str, named: list[NamedDate]
) -> None:
    assert dates_named(question) == named


def test_a_date_without_a_year_is_of_any_year() -> None:
    moment = datetime(2021, 7, 3, 12, tzinfo=UTC)
    assert is_dated_in(moment, [NamedDate(None, 7, 3)])
    assert is_dated_in(moment, [NamedDate(2021, 7, None)])
    assert not is_dated_in(moment, [NamedDate(2022, 7, None)])
    assert not is_dated_in(moment, [])
