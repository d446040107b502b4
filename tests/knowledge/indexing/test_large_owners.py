"""`manage.py reindex --whales`: a graph for each very large library, and for no other."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from knowledge.access import Access
from knowledge.indexing import generations, large_owners
from knowledge.ingest.adding import add_text
from knowledge.maintenance import building
from knowledge.models import Generation
from knowledge.providers.fake import FakeEmbedder
from tests.support.index import fill, reindex, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_whale_gets_an_index_that_is_used_and_goes_when_it_is_none(
    library: Access, owner: User, stranger: User
) -> None:
    fill(library, 12)
    add_text(Access.whole_library(stranger.pk), title="Trains", text=text_of(1))
    live = generations.live_generation()
    name = f"knowledge_hnsw_g{live.pk}_o{owner.pk}"
    assert large_owners.whale_index(live.pk, owner.pk) is None
    assert f"Built {name}" in reindex("--whales", "--whale-chunks", "10")
    assert large_owners.whale_index(live.pk, owner.pk) == name
    assert large_owners.whale_index(live.pk, stranger.pk) is None
    assert name in graph_plan(live.pk, owner.pk)
    assert reindex("--whales", "--whale-chunks", "10") == ""
    add_text(library, title="One more", text=text_of(2))
    assert f"Dropped {name}" in reindex("--whales")
    assert large_owners.indexes_there_are() == {}


def graph_plan(generation_id: int, owner_id: int) -> str:
    vector = "[" + ",".join(["1"] * 64) + "]"
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_sort = off")
        cursor.execute(
            "EXPLAIN SELECT chunk_id FROM knowledge_chunkembedding "
            f"WHERE owner_id = {owner_id} AND generation_id = {generation_id} "
            "ORDER BY vector::halfvec(64) <=> %s::halfvec(64) LIMIT 5",
            [vector],
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("RESET enable_seqscan; RESET enable_sort")
    return plan


def test_what_a_killed_build_left_is_dropped_and_built_again(library: Access, owner: User) -> None:
    fill(library, 3)
    index = large_owners.LargeOwnerIndex(generations.live_generation().pk, owner.pk)
    with broken_build(index):
        assert large_owners.indexes_there_are() == {index: False}
        assert large_owners.whale_index(*index) is None
        out = reindex("--whales", "--whale-chunks", "2")
        assert f"Dropped {index.name}" in out
        assert large_owners.indexes_there_are() == {index: True}


@contextmanager
def broken_build(index: large_owners.LargeOwnerIndex) -> Iterator[None]:
    large_owners.build_index(index, 64)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [index.name]
        )
    try:
        yield
    finally:
        large_owners.drop_index(index)


def test_the_index_of_a_retired_generation_goes_with_it(
    library: Access, other: FakeEmbedder
) -> None:
    fill(library, 3)
    reindex("--whales", "--whale-chunks", "2")
    reindex("--embedder", "other")
    out = reindex("--whales", "--whale-chunks", "2")
    assert ("Dropped" in out, "Built" in out) == (True, True)
    reindex("--embedder", "fake")
    Generation.objects.filter(is_live=False).update(retired_at=timezone.now() - building.GRACE)
    reindex("--prune")
    assert large_owners.indexes_there_are() == {}
