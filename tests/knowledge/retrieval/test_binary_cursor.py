import json

import pytest

from knowledge.retrieval.binary_cursor import fetch


@pytest.mark.django_db
@pytest.mark.parametrize(
    "value", [{}, {"a": [1, 2.5, None, True, "ö"]}, 10**30, 1.1, "\u2028", {"n": -0.5}]
)
def test_json_is_read_as_it_was_written(value: object) -> None:
    nested = value
    for _ in range(300):
        nested = [nested]
    for each in (value, nested):
        [row] = fetch("SELECT %(each)s::text::jsonb AS value", {"each": json.dumps(each)})
        assert row["value"] == each
        assert type(row["value"]) is type(each)
