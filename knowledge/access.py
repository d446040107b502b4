"""Who is asking, and how much of one library they may touch."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from knowledge.errors import CapabilityDenied


class Capability(StrEnum):
    """A kind of thing a token may do."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One caller's reach: an owner's library, narrowed to folders and capabilities."""

    owner_id: int
    capabilities: frozenset[Capability]
    folder_ids: frozenset[UUID] | None  # None is the whole library; empty is nothing
    kb_only: bool = False
    token_id: UUID | None = None
    agent_id: str = ""
    action_id: UUID | None = None  # one action of a person, recorded so that it can be undone

    @classmethod
    def whole_library(cls, owner_id: int) -> "Access":
        """The owner in person: everything of theirs, to read and to write."""
        return cls(owner_id=owner_id, capabilities=frozenset(Capability), folder_ids=None)

    def require(self, capability: Capability) -> None:
        """Refuse the ask unless this caller has the capability."""
        if capability not in self.capabilities:
            raise CapabilityDenied(
                f"This needs the {capability} capability; ask for a token that has it.",
                required=[str(capability)],
                have=sorted(self.capabilities),
            )

    def require_whole_library(self) -> None:
        """Refuse the ask to a caller that reaches only some folders."""
        if self.folder_ids is not None:
            raise CapabilityDenied(
                "This needs a whole-library token; this one reaches only its own folders.",
                required=["whole_library"],
                have=sorted(self.capabilities),
            )

    @property
    def recorded_as(self) -> UUID | None:
        """The id that what it writes is undone by: a token's, or that of one action."""
        return self.token_id or self.action_id

    @property
    def filing_folder_id(self) -> UUID | None:
        """The folder that additions go to: only when there is exactly one to choose."""
        if self.folder_ids is not None and len(self.folder_ids) == 1:
            return next(iter(self.folder_ids))
        return None
