from uuid import uuid4

import pytest

from knowledge.access import Access, Capability
from knowledge.retrieval import door


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
    sql, values = door.searchable(one)
    monkeypatch.setattr(door, "written", None)  # nothing is written a second time
    assert door.searchable(other) == (sql, values)
