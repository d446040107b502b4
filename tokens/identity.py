"""What a token is told about itself."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from knowledge.asks import Ask
from knowledge.ledger import quotas
from tokens.limits import Allowance, allowances
from tokens.models import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoAmI:
    """A token as its holder sees it: who it is, what it reaches and what is left."""

    owner: str
    name: str
    agent_id: str
    capabilities: list[str]
    toolsets: list[str]
    is_unscoped: bool
    folders: list[dict[str, UUID | str]]
    kb_only: bool
    expires_at: datetime
    limits: dict[str, Allowance]
    quota: dict[str, quotas.Quota]


def whoami(token: Token) -> WhoAmI:
    """Everything a caller may know of its own token."""
    return WhoAmI(
        name=token.name,
        agent_id=token.agent_id,
        owner=token.owner.get_username(),
        capabilities=sorted(token.capabilities),
        toolsets=list(token.toolsets),
        is_unscoped=token.is_unscoped,
        folders=[{"id": folder.pk, "name": folder.name} for folder in token.folders.all()],
        kb_only=token.kb_only,
        expires_at=token.expires_at,
        limits=allowances(token, asks_open_to(token)),
        quota={quotas.RESOURCE: quotas.quota_of(token.owner_id)},
    )


def asks_open_to(token: Token) -> list[Ask]:
    """The asks that the token's capabilities cover, in the order of their table."""
    return [ask for ask in Ask if ask.needs in token.capabilities]
