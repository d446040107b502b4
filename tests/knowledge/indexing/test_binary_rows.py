"""The bytes of values are those that Postgres itself sends and reads."""

from uuid import uuid4

import numpy as np
import pytest
from django.db import connection

from knowledge.indexing.binary_rows import (
    VECTORS,
    Keys,
    copy_rows,
    field,
    halfvec,
    jsonb,
    reals,
    text_array,
)
from tests.support.headings import HEADINGS

LOCATOR = '{"name": "é \\"quoted\\" \\\\ 🪨", "char_span": [0, 45]}'


@pytest.mark.django_db
def test_numbers_are_the_array_that_postgres_itself_would_send() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT array_send(%s::real[])", [[0.1, -2.5, 3e-9]])
        assert bytes(cursor.fetchone()[0]) == reals(np.array([0.1, -2.5, 3e-9], np.float32))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sent", "value", "ours"),
    [
        *(("array_send(%s::text[])", list(path), text_array(path)) for path in HEADINGS),
        ("jsonb_send(%s::jsonb)", LOCATOR, jsonb(LOCATOR)),
        ("halfvec_send(%s::halfvec)", "[1,-2,0.5]", halfvec(np.array([1.0, -2.0, 0.5]))),
    ],
)
def test_a_value_is_the_bytes_that_postgres_itself_would_send(
    sent: str, value: str | list[str], ours: bytes
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {sent}", [value])
        assert bytes(cursor.fetchone()[0]) == ours


@pytest.mark.django_db
@pytest.mark.parametrize("count", [1, 2, 3, 40], ids=lambda count: f"{count} rows")
def test_rows_of_several_owners_and_items_are_written(count: int) -> None:
    items = [uuid4() for _ in range(count)]
    item_ids = np.frombuffer(b"".join(item.bytes for item in items), "V16")
    numbers = np.arange(count)
    vectors = [field(halfvec(np.array([n, -2.0]))) for n in numbers]
    keys = Keys(7 + numbers, 3 + numbers, item_ids)
    copy_rows(VECTORS, keys, vectors, generation_id=9)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT chunk_id, owner_id, item_id, generation_id, vector::text "
            "FROM knowledge_chunkembedding ORDER BY chunk_id"
        )
        assert cursor.fetchall() == [
            (7 + n, 3 + n, item, 9, f"[{n},-2]") for n, item in enumerate(items)
        ]
        cursor.execute("DELETE FROM knowledge_chunkembedding")
