"""What an agent wrote over REST and over MCP, undone in one step."""

import pytest

from knowledge.access import Access
from knowledge.models import Change
from tests.support.edges import over_mcp, over_rest
from tests.support.library import LONG_ENOUGH, Add, Mint
from tests.support.undo import snapshot, undo_all

TEXT = f"What an agent wrote.{LONG_ENOUGH}"


@pytest.fixture
def item_id(add: Add) -> str:
    return str(add("Kept").pk)


def test_writes_through_either_edge_are_undone_in_one_step(mint: Mint, item_id: str) -> None:
    agent = mint()
    before = snapshot()
    _, by_mcp = over_mcp(agent, "add_to_knowledge", kind="text", title="By MCP", text=TEXT)
    over_rest(agent, "POST", "ingest", kind="text", title="By REST", text=TEXT)
    _, folder = over_rest(agent, "POST", "folders", name="Made")
    over_rest(agent, "PATCH", f"folders/{folder['id']}", name="Renamed")
    over_rest(agent, "POST", f"items/{item_id}/folders", folder_ids=[folder["id"]])
    over_rest(agent, "PATCH", f"items/{item_id}", title="Spoilt", archived=True)
    over_rest(agent, "DELETE", f"items/{item_id}/folders/{folder['id']}")
    over_rest(agent, "DELETE", f"items/{by_mcp['user_item_id']}")
    over_rest(agent, "DELETE", f"items/{item_id}")
    over_rest(agent, "DELETE", f"folders/{folder['id']}")
    over_rest(agent, "POST", "webhooks", url="https://example.org/hook")
    assert Change.objects.count() == 11
    assert snapshot() != before
    result = undo_all(agent)
    assert (len(result.undone), result.skipped) == (11, [])
    assert snapshot() == before


def test_a_refused_write_leaves_nothing_to_undo(mint: Mint, item_id: str) -> None:
    reader = mint(write=False)
    assert over_rest(reader, "DELETE", f"items/{item_id}")[0] == "capability_denied"
    writer = mint()
    assert over_rest(writer, "PATCH", f"items/{item_id}", title="")[0] == "invalid_body"
    assert not Change.objects.exists()


def test_a_tokens_activity_tells_its_writes_and_nobody_elses(
    mint: Mint, item_id: str, library: Access
) -> None:
    agent, other = mint(), mint()
    over_mcp(agent, "get_item", item_id=item_id)
    over_rest(other, "DELETE", f"items/{item_id}")
    _, told = over_rest(agent, "GET", "activity")
    assert [(e["edge"], e["ask"], e["target"]) for e in told["events"]] == [
        ("mcp", "get_item", item_id)
    ]
