"""What the tools about judgments, reputation and providers answer: JSON as text, too.

Each begins with what their reference has.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal
from uuid import UUID

from knowledge.registry.offering import Offer
from knowledge.registry.trust_reports import Reputation
from knowledge.registry.validating import Judgment
from mcp_gateway.payloads.base import Payload, Shape


class Validated(Payload):
    validated: Literal[True] = True
    unit_id: UUID
    valid: bool
    quality_score: float

    @classmethod
    def of(cls, judgment: Judgment) -> "Validated":
        validation = judgment.validation
        return cls(
            unit_id=validation.item_id,
            valid=validation.valid,
            quality_score=judgment.quality_score,
        )

    def as_text(self) -> str:
        return self.model_dump_json()


class Voice(Shape):
    """An agent that judged another's work, and the trust that this brought."""

    agent_id: str
    reputation_score: float
    valid: int
    not_valid: int
    brings: float


class AgentReputation(Payload):
    listed = "score contributions agent_id judged_by"

    score: float
    contributions: int
    agent_id: str
    contributions_by_type: dict[str, int]
    from_the_start: bool
    trust: float
    valid: int
    not_valid: int
    judged_by: list[Voice]

    @classmethod
    def of(cls, reputation: Reputation) -> "AgentReputation":
        return cls.model_validate(reputation)

    def as_text(self) -> str:
        return self.model_dump_json()


class CapabilityMatch(Shape):
    capability: str
    score: float
    by: str


class ProviderFound(Shape):
    listed = "id name capabilities reputation_score agent_id description endpoint match"

    id: UUID
    name: str
    capabilities: list[str]
    reputation_score: float
    agent_id: str
    description: str
    endpoint: str
    match: CapabilityMatch | None
    last_seen_at: datetime

    @classmethod
    def of(cls, offer: Offer) -> "ProviderFound":
        provider = offer.provider
        match = CapabilityMatch.model_validate(offer.match) if offer.match else None
        return cls(
            id=provider.pk,
            name=provider.name,
            capabilities=provider.capabilities,
            reputation_score=offer.reputation_score,
            agent_id=provider.agent_id,
            description=provider.description,
            endpoint=provider.endpoint,
            match=match,
            last_seen_at=provider.last_seen_at,
        )


class Providers(Payload):
    listed = "providers"

    providers: list[ProviderFound]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, offers: Iterable[Offer]) -> "Providers":
        return cls(providers=[ProviderFound.of(offer) for offer in offers])

    def as_text(self) -> str:
        return self.model_dump_json()
