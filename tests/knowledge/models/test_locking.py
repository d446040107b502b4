import re

from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from model_bakery import baker

from knowledge.models import Content, Item
from knowledge.models.locking import lock_contents_of, lock_item

LOCK = re.compile(r'SELECT .*? FROM "(\w+)" .*FOR (?:NO KEY )?UPDATE', re.DOTALL)


def tables_locked(queries: CaptureQueriesContext) -> list[str]:
    return [found[1] for each in queries.captured_queries if (found := LOCK.match(each["sql"]))]


def item_of(owner: User) -> Item:
    return baker.make(Item, owner=owner, content=baker.make(Content, owner=owner))


def test_a_content_is_locked_before_its_item(owner: User) -> None:
    item = item_of(owner)
    with CaptureQueriesContext(connection) as queries:
        assert lock_item(Item.objects.all(), item.pk) == item
    assert tables_locked(queries) == ["knowledge_content", "knowledge_item"]


def test_an_item_that_is_not_among_these_locks_nothing(owner: User) -> None:
    item = item_of(owner)
    with CaptureQueriesContext(connection) as queries:
        assert lock_item(Item.objects.none(), item.pk) is None
        assert lock_item(Item.objects.filter(in_kb=not item.in_kb), item.pk) is None
    assert tables_locked(queries) == []


def test_the_contents_of_items_are_locked_in_the_order_of_their_ids(owner: User) -> None:
    for _ in range(2):
        item_of(owner)
    with CaptureQueriesContext(connection) as queries:
        lock_contents_of(Item.objects.all())
    (lock,) = [each["sql"] for each in queries.captured_queries if LOCK.match(each["sql"])]
    assert re.search(r"ORDER BY \S+ ASC FOR NO KEY UPDATE$", lock)
