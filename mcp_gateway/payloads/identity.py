"""What a token is told about itself."""

from datetime import datetime
from uuid import UUID

from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.fact_lines import format_value

NEARLY = 0.1
"""The share that is left of what is nearly used up."""


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

    listed = "name agent_id capabilities toolsets is_unscoped folders limits quota"

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
        """Who, what it reaches, and what is nearly used up; the limits stand beside it."""
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
            "nearly used up": [*self._short_limits(), *self._short_quotas()] or "nothing",
        }
        return "\n".join(f"{name}: {format_value(value)}" for name, value in facts.items())

    def _short_limits(self) -> list[str]:
        return [
            f"calls of {ask}: {left.remaining} of {left.limit}, resets in {left.reset_sec} s"
            for ask, left in self.limits.items()
            if left.remaining <= NEARLY * left.limit
        ]

    def _short_quotas(self) -> list[str]:
        return [
            f"quota of {what}: {quota.remaining} of {quota.cap_per_month} a month"
            for what, quota in self.quota.items()
            if quota.cap_per_month is not None
            and (quota.remaining or 0) <= NEARLY * quota.cap_per_month
        ]
