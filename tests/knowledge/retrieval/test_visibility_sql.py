from uuid import uuid4

import pytest

from knowledge.access import Access, Capability
from knowledge.retrieval import visibility_sql


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
