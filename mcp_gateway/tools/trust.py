"""The registry's tools about judgments, reputation and providers."""

from typing import Annotated

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.registry import offering, trust_reports, validating
from knowledge.validation import as_id
from mcp_gateway.payloads.trust import AgentReputation, Providers, Validated
from mcp_gateway.tool_table import schema_field, tool
from tokens.models import Toolset


@tool(Toolset.REGISTRY, title="Judge a unit", ask=Ask.VALIDATE)
def kp_validate_unit(
    access: Access,
    unit_id: Annotated[str, schema_field("Of a skill or unit.", format="uuid")],
    valid: bool,
    feedback: Annotated[str | None, schema_field(maxLength=validating.MAX_FEEDBACK)] = None,
) -> Validated:
    """Judge a skill or unit that you have used, not your own. A new judgment replaces yours."""
    item_id = as_id(unit_id, field="unit_id")
    judgment = validating.validate_unit(access, item_id, valid=valid, feedback=feedback)
    return Validated.of(judgment)


@tool(Toolset.REGISTRY, title="Look up a reputation", ask=Ask.REPUTATION)
def kp_reputation_query(
    access: Access,
    agent_id: Annotated[
        str, schema_field("As whoami and contributions name it.", minLength=1, maxLength=200)
    ],
) -> AgentReputation:
    """Tell how far an agent is trusted (0 to 1), by whom, and how much it contributed."""
    return AgentReputation.of(trust_reports.reputation_of(access, agent_id))


@tool(Toolset.REGISTRY, title="Discover providers", ask=Ask.PROVIDERS)
def kp_provider_discover(
    access: Access,
    capability: Annotated[
        str, schema_field("In any words.", minLength=1, maxLength=offering.MAX_WANTED)
    ],
    limit: Annotated[int, schema_field(minimum=1, maximum=offering.MAX_LIMIT)] = 10,
) -> Providers:
    """Find agents that offer a capability, the most fitting and trusted first."""
    return Providers.of(offering.discover_providers(access, capability=capability, limit=limit))
