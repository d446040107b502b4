"""Making tokens. The secret is handed out here, once, and nowhere else."""

import hashlib
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from knowledge.access import Access
from knowledge.errors import InvalidInput, NotFound, OutOfScope
from knowledge.models import Folder
from knowledge.registry.trust_reports import MAX_AGENT_ID
from knowledge.validation import clean_line
from tokens.models import Token, Toolset
from tokens.secrets import digest, new_secret

DEFAULT_DAYS = 365
MAX_DAYS = 3650

_DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """What a token should be; nothing in it can be widened later."""

    name: str
    folder_ids: Collection[UUID] | None  # None is the whole library
    can_write: bool = False
    kb_only: bool = False
    toolsets: Collection[str] = (Toolset.LIBRARY,)
    expires_days: int = DEFAULT_DAYS


@transaction.atomic
def mint_token(owner: User, request: TokenRequest) -> tuple[Token, str]:
    """Create a token for this owner; answers the row and its secret, shown this once."""
    name = clean_line(request.name, field="name", longest=100)
    toolsets = _check_toolsets(request.toolsets)
    if not 1 <= request.expires_days <= MAX_DAYS:
        raise InvalidInput(f"expires_days must be between 1 and {MAX_DAYS}.", field="expires_days")
    folders = _folders_of(owner, request.folder_ids)
    secret = new_secret()
    token = Token.objects.create(
        owner=owner,
        name=name,
        agent_id=_agent_id(owner.get_username(), name),
        digest=digest(secret),
        prefix=secret[:10],
        can_write=request.can_write,
        is_unscoped=request.folder_ids is None,
        kb_only=request.kb_only,
        toolsets=toolsets,
        expires_at=timezone.now() + timedelta(days=request.expires_days),
    )
    token.folders.set(folders)
    return token, secret


def revoke_token(owner_id: int, token_id: UUID) -> None:
    """Revoke one of this owner's tokens; doing it twice is the same as once."""
    tokens = Token.objects.of_owner(owner_id).filter(pk=token_id)
    if not tokens.exists():
        raise NotFound("No such token.")
    tokens.revoke()


def _agent_id(username: str, name: str) -> str:
    """The owner and the token's name in small letters; names of other letters are other agents.

    Where not all of them come through, a digest tells the name from others.
    """
    room = MAX_AGENT_ID - len(username) - 1
    slug = slugify(name, allow_unicode=True)
    if not slug or len(slug) > room or _has_marks(name):
        mark = hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]
        slug = f"{slug[: room - _DIGITS - 1]}-{mark}".lstrip("-")
    return f"{username}/{slug}"


def _has_marks(name: str) -> bool:
    """Whether it has vowel signs and the like, as in Hindi and Thai: a slug has letters only."""
    return any(unicodedata.category(sign)[0] == "M" for sign in unicodedata.normalize("NFKC", name))


def _check_toolsets(names: Collection[str]) -> list[str]:
    unknown = set(names) - set(Toolset.values)
    if unknown or not names:
        raise InvalidInput(
            f"toolsets must be one or more of: {', '.join(Toolset.values)}.", field="toolsets"
        )
    return [name for name in Toolset.values if name in names]


def _folders_of(owner: User, folder_ids: Collection[UUID] | None) -> list[Folder]:
    if folder_ids is None:
        return []
    if not folder_ids:
        raise InvalidInput("A scoped token needs at least one folder.", field="folder_ids")
    whole = Access.whole_library(owner.pk)
    folders = list(Folder.objects.visible_to(whole).filter(pk__in=folder_ids))
    if missing := set(folder_ids) - {folder.pk for folder in folders}:
        raise OutOfScope(missing)
    return folders
