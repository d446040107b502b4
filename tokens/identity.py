"""What a token is told about itself."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from knowledge.access import Capability
from knowledge.ledger import quotas
from tokens.limits import PER_HOUR, Allowance, remaining
from tokens.models import Token

WRITES = frozenset(
    {"add", "update_item", "delete_item", "file_item"}
    | {"create_folder", "update_folder", "delete_folder"}
    | {"remember", "manage_task", "relate", "crawl"}
    | {"contribute", "validate", "register_provider"}
    | {"begin_upload", "finish_upload", "retry", "transform", "webhooks", "import"}
)


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
        limits={ask: remaining(token, ask) for ask in PER_HOUR if may_ask(token, ask)},
        quota={quotas.RESOURCE: quotas.quota_of(token.owner_id)},
    )


def may_ask(token: Token, ask: str) -> bool:
    """Whether the token's capabilities cover this ask at all."""
    return ask not in WRITES or Capability.WRITE in token.capabilities
