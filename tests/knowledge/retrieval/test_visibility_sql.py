from collections.abc import Callable
from itertools import pairwise
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access, Capability
from knowledge.models import Folder, Item, Relation
from knowledge.retrieval import visibility_sql
from knowledge.retrieval.binary_cursor import fetch
from tests.support.edges import SEES, made_world
from tests.support.library import Add, Mint


def access_of(agent_id: str, *capabilities: Capability) -> Access:
    return Access(
        owner_id=1,
        capabilities=frozenset(capabilities),
        folder_ids=None,
        token_id=uuid4(),
        agent_id=agent_id,
    )


@pytest.mark.django_db
def test_agents_of_the_same_reach_share_one_written_statement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = access_of("one", Capability.READ), access_of("other", *Capability)
    sql, values = visibility_sql.searchable(one)
    monkeypatch.setattr(visibility_sql, "sql_of", None)  # nothing is written a second time
    assert visibility_sql.searchable(other) == (sql, values)


def test_what_is_written_once_answers_as_the_rule_itself(
    library: Access, stranger: User, mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    world = made_world(library, stranger, mint, add, folder)
    items = list(Item.objects.order_by("pk"))
    for one, other in pairwise(items):
        Relation.objects.create(owner_id=one.owner_id, source=one, target=other)
    for shape in SEES:
        access = world.tokens[shape].access
        seen = Item.objects.visible_to(access)
        relations = Relation.objects.visible_to(access).in_force()
        for sql, expected in (
            (visibility_sql.titled_items_sql(access), seen),
            (visibility_sql.told_items_sql(access), seen),
            (visibility_sql.relations_sql(access), relations),
        ):
            statement = f"SELECT answer FROM ({sql[0]}) AS seen (answer)"
            found = {row["answer"] for row in fetch(statement, sql[1])}
            assert found == set(expected.values_list("pk", flat=True)), shape
