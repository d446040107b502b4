"""What the tools about judgments, reputation and providers answer."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal
from uuid import UUID

from knowledge.registry.offering import Offer
from knowledge.registry.standing import Reputation
from knowledge.registry.validating import Judgment
from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.wording import UNTRUSTED, named, one_line


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
        return named(
            validated=True,
            unit_id=self.unit_id,
            valid=self.valid,
            quality_score=round(self.quality_score, 3),
        )


class Voice(Shape):
    """An agent that judged another's work, and the trust that this brought."""

    agent_id: str
    reputation_score: float
    valid: int
    not_valid: int
    brings: float

    def as_text(self) -> str:
        return (
            f"- {one_line(self.agent_id)} (reputation {self.reputation_score:.2f}): "
            f"{self.valid} valid, {self.not_valid} not valid, brings {self.brings:.3g}"
        )


class AgentReputation(Payload):
    agent_id: str
    score: float
    contributions: int
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
        by_type = ", ".join(f"{count} {name}" for name, count in self.contributions_by_type.items())
        facts = named(
            agent_id=self.agent_id,
            score=round(self.score, 3),
            contributions=self.contributions,
            contributions_by_type=by_type,
            from_the_start=self.from_the_start,
            trust=round(self.trust, 6),
            valid=self.valid,
            not_valid=self.not_valid,
        )
        return "\n".join([facts, *(voice.as_text() for voice in self.judged_by)])


class CapabilityMatch(Shape):
    capability: str
    score: float
    by: str

    def as_text(self) -> str:
        return f"{self.capability} by {self.by}, {self.score:.2f}"


class ProviderFound(Shape):
    id: UUID
    agent_id: str
    name: str
    description: str
    capabilities: list[str]
    endpoint: str
    reputation_score: float
    match: CapabilityMatch | None
    last_seen_at: datetime

    @classmethod
    def of(cls, offer: Offer) -> "ProviderFound":
        provider = offer.provider
        match = CapabilityMatch.model_validate(offer.match) if offer.match else None
        return cls(
            id=provider.pk,
            agent_id=provider.agent_id,
            name=provider.name,
            description=provider.description,
            capabilities=provider.capabilities,
            endpoint=provider.endpoint,
            reputation_score=offer.reputation_score,
            match=match,
            last_seen_at=provider.last_seen_at,
        )

    def as_text(self) -> str:
        facts = named(
            id=self.id,
            agent_id=self.agent_id,
            capabilities=self.capabilities,
            reputation_score=round(self.reputation_score, 3),
            match=self.match
            and f"{self.match.capability} by {self.match.by}, {self.match.score:.2f}",
            endpoint=self.endpoint,
            last_seen_at=self.last_seen_at,
            description=self.description,
        )
        return f"{one_line(self.name)}\n   {facts}"


class Providers(Payload):
    providers: list[ProviderFound]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, offers: Iterable[Offer]) -> "Providers":
        return cls(providers=[ProviderFound.of(offer) for offer in offers])

    def as_text(self) -> str:
        if not self.providers:
            return "No provider offers that."
        lines = [f"{n}. {each.as_text()}" for n, each in enumerate(self.providers, 1)]
        return "\n".join([UNTRUSTED, *lines])
