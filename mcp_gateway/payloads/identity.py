"""What a token is told about itself."""

from datetime import datetime
from uuid import UUID

from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.wording import written


class FolderName(Shape):
    id: UUID
    name: str


class Allowance(Shape):
    limit: int
    remaining: int
    reset_sec: int


class Quota(Shape):
    tier: str
    used: float
    cap_per_month: float | None
    remaining: float | None


class Identity(Payload):
    """A token as its holder sees it."""

    name: str
    agent_id: str
    owner: str
    capabilities: list[str]
    toolsets: list[str]
    is_unscoped: bool
    folders: list[FolderName]
    kb_only: bool
    expires_at: datetime
    limits: dict[str, Allowance]
    quota: dict[str, Quota]

    def as_text(self) -> str:
        folders = ", ".join(f"{folder.name} ({folder.id})" for folder in self.folders)
        facts = {
            "token": self.name,
            "agent_id": self.agent_id,
            "owner": self.owner,
            "capabilities": self.capabilities,
            "toolsets": self.toolsets,
            "reach": "the whole library" if self.is_unscoped else f"folders {folders}",
            "kb_only": self.kb_only,
            "expires_at": self.expires_at,
            **{f"calls left of {ask}": _left(left) for ask, left in self.limits.items()},
            **{f"quota of {what}": _quota(quota) for what, quota in self.quota.items()},
        }
        return "\n".join(f"{name}: {written(value)}" for name, value in facts.items())


def _left(allowance: Allowance) -> str:
    return f"{allowance.remaining} of {allowance.limit}, resets in {allowance.reset_sec} s"


def _quota(quota: Quota) -> str:
    cap = "no cap" if quota.cap_per_month is None else f"{quota.remaining} left"
    month = "" if quota.cap_per_month is None else f" of {quota.cap_per_month} a month"
    return f"{quota.used} used, {cap}{month} (tier {quota.tier})"
