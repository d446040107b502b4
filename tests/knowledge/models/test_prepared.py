"""Rows that are written past the ORM are those that it would have written."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import DataError, OperationalError, connection, transaction
from django.utils import timezone

from knowledge.ledger.changes import as_data
from knowledge.models import Change, ChangeKind, Content, Item, Visibility
from knowledge.models.prepared import fetch_row, insert_rows, joined_writes, send, write

pytestmark = pytest.mark.django_db

INSERT = "INSERT INTO quarry_counter (key, value) VALUES (%s, %s)"
COUNT = "SELECT count(*) FROM quarry_counter WHERE key LIKE %s"
MINE = "test_prepared:%"
OWN = {
    *("id", "title", "custom_title", "after", "at"),
    *("created_at", "changed_at", "updated_at", "arrived_at"),
}
"""In what two rows differ that are otherwise alike."""


def contents(owner: User) -> list[Content]:
    told = {"owner": owner, "text": "é % $1 🪨", "notes": {"a": [1, None]}, "duration_sec": 0.1}
    return [Content(title=f"{n}", **told) for n in range(2)]


def items(owner: User, content: Content) -> list[Item]:
    told: dict[str, Any] = {
        "owner": owner,
        "content": content,
        "tags": ["ä", "b, c"],
        "attributes": {"é": {}},
        "visibility": Visibility.ORG,
        "quality": 0.25,
        "added_by_token": uuid4(),
    }
    return [Item(custom_title=f"{n}", **told) for n in range(2)]


def changes(owner: User, item: Item) -> list[Change]:
    told: dict[str, Any] = {"owner": owner, "token_id": uuid4(), "kind": ChangeKind.ITEM_ADDED}
    return [Change(target=item.pk, title=f"{n}", after={"é": [n]}, **told) for n in range(2)]


def test_a_row_is_the_one_that_the_orm_would_write(owner: User) -> None:
    texts = contents(owner)
    of_text = items(owner, texts[0])
    pairs: list[list[Any]] = [texts, of_text, changes(owner, of_text[0])]
    for first, second in pairs:
        insert_rows([first])
        type(second)._default_manager.bulk_create([second])
        one, other = map(as_data, type(first)._default_manager.all())
        assert [name for name in one if one[name] != other[name] and name not in OWN] == []


def test_several_rows_are_written_together(owner: User) -> None:
    rows = contents(owner)
    insert_rows(rows)
    insert_rows([])
    assert {row.pk for row in Content.objects.all()} == {row.pk for row in rows}


def test_what_postgres_fills_is_there_when_it_is_asked_for(owner: User) -> None:
    content, item = contents(owner)[0], None
    with joined_writes():
        insert_rows([content])
        item = items(owner, content)[0]
        insert_rows([item])
    assert abs(item.arrived_at - timezone.now()) < timedelta(minutes=1)


def test_a_statement_takes_values_of_other_sorts_the_next_time() -> None:
    for texts in ([], ["ä"], None, [None, "b"]):
        assert fetch_row("SELECT %s::text[]", [texts]) == (texts,)
    for number in (1, None, 1 << 40, 70_000):
        assert fetch_row("SELECT %s::bigint", [number]) == (number,)


def test_a_statement_that_failed_can_be_sent_again() -> None:
    with pytest.raises(DataError), transaction.atomic():
        fetch_row("SELECT 6 / %s::int", [0])
    assert fetch_row("SELECT 6 / %s::int", [2]) == (3,)


def test_writes_that_wait_go_with_the_next_statement() -> None:
    with joined_writes():
        write(INSERT, [MINE.replace("%", "1"), 1])
        write(INSERT, [MINE.replace("%", "2"), 2])
        assert send(COUNT, [MINE]) == (0,)  # it sees what there was before it
        assert send(COUNT, [MINE]) == (2,)
        with joined_writes():
            write(INSERT, [MINE.replace("%", "3"), 3])
        assert send(COUNT, [MINE]) == (3,)
        write(INSERT, [MINE.replace("%", "4"), 4])
    assert send(COUNT, [MINE]) == (4,)


def test_after_an_error_no_write_is_sent() -> None:
    def fail() -> None:
        with joined_writes():
            write(INSERT, [MINE.replace("%", "1"), 1])
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert send(COUNT, [MINE]) == (0,)


def test_an_edge_can_stop_what_is_written() -> None:
    def refuse(*given: Any) -> Any:
        raise OperationalError("left")

    with connection.execute_wrapper(refuse), pytest.raises(OperationalError):
        write(INSERT, [MINE.replace("%", "1"), 1])
    assert send(COUNT, [MINE]) == (0,)
