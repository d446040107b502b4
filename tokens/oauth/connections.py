"""Connections: rows of the token table that belong to an OAuth client of their owner's."""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken

from knowledge.access import Access
from knowledge.errors import InvalidInput, NotFound
from knowledge.models import Folder
from tokens.finding import find_connection
from tokens.minting import TokenRequest, mint_token
from tokens.models import Grant, Token
from tokens.oauth.addresses import is_this_server

LIVES_DAYS = 30
"""How long a connection lives after its client last renewed it."""
_UNUSED_CLIENT_LIVES = timedelta(days=7)
WRITE_SCOPE = "kb:write"


def find_by_access_token(secret: str) -> Token | None:
    """The connection of a live access token for this server, with no more than its scopes."""
    access = (
        AccessToken.objects.filter(token_checksum=hashlib.sha256(secret.encode()).hexdigest())
        .filter(expires__gt=timezone.now(), refresh_token__revoked=None)
        .values_list("refresh_token__token_family", "resource", "scope")
        .first()
    )
    if access is None:
        return None
    family, audience, scope = access
    if not audience or not all(map(is_this_server, audience)):
        return None
    token = find_connection(family)
    if token is not None and WRITE_SCOPE not in scope.split():
        token.can_write = False  # for this call; the client asked for less than it may have
    return token


def connect(owner: User, client: Application, reach: dict[str, Any]) -> Token:
    """The row of a new connection. Nobody has its secret: its client gets access tokens."""
    with transaction.atomic():
        token, _secret = mint_token(
            owner,
            TokenRequest(
                name=client_name(client),
                folder_ids=_ids(reach.get("folder_ids")),
                can_write=bool(reach.get("can_write")),
                toolsets=reach.get("toolsets") or (),
                expires_days=LIVES_DAYS,
            ),
        )
        token.client = client
        token.prefix = ""
        token.digest = hashlib.sha256(secrets.token_bytes(32)).hexdigest()
        token.save(update_fields=["client", "prefix", "digest"])
    return token


def client_name(client: Application) -> str:
    """What the client calls itself, in one short line; its id if it has no name."""
    name = "".join(sign for sign in client.name if sign.isprintable()).strip()
    return (name or client.client_id)[:100]


def _ids(values: Collection[str] | None) -> list[UUID] | None:
    return None if values is None else [UUID(value) for value in values]


def prolong(connection_id: UUID) -> None:
    """Note that a client renewed its access: the connection lives on from now."""
    Token.objects.filter(pk=connection_id).update(
        expires_at=timezone.now() + timedelta(days=LIVES_DAYS)
    )


def is_alive(connection_id: UUID | None) -> bool:
    if connection_id is None:
        return False
    token = Token.objects.with_owner().filter(pk=connection_id).first()
    return token is not None and token.state == "active"


def end(connection_id: UUID | None) -> None:
    """End a connection, with every token that its client holds."""
    if connection_id:
        Token.objects.filter(pk=connection_id).revoke()
        RefreshToken.revoke_family(connection_id)


# What a person does with their own ---------------------------------------------------------


def own_connections(owner_id: int) -> QuerySet[Token]:
    mine = Token.objects.of_owner(owner_id).exclude(client=None)
    return mine.select_related("client").prefetch_related("folders")


def own_connection(owner_id: int, connection_id: UUID) -> Token:
    token = own_connections(owner_id).filter(pk=connection_id).first()
    if token is None:
        raise NotFound("No such connection.")
    return token


def revoke(owner_id: int, connection_id: UUID) -> None:
    """Revoke one of this owner's connections; doing it twice is the same as once."""
    end(own_connection(owner_id, connection_id).pk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What is left of a connection's reach; None leaves it as it is."""

    folder_ids: Collection[UUID] | None = None
    can_write: bool | None = None
    toolsets: Collection[str] | None = None


@transaction.atomic
def narrow(owner_id: int, connection_id: UUID, asked: Narrowing) -> Token:
    """Take away from a connection. Widening one needs the owner's consent, so it is refused."""
    # Locked before it is read: of two that narrow it at once, neither gives back what is gone.
    list(Token.objects.of_owner(owner_id).filter(pk=connection_id).select_for_update())
    token = own_connection(owner_id, connection_id)
    if asked.can_write and not token.can_write:
        raise _widening_error("can_write")
    if asked.toolsets is not None and not set(asked.toolsets) <= set(token.toolsets):
        raise _widening_error("toolsets")
    if asked.toolsets is not None and not asked.toolsets:
        raise InvalidInput("A connection needs at least one toolset.", field="toolsets")
    if asked.folder_ids is not None:
        _keep_folders(token, asked.folder_ids)
    if asked.can_write is not None:
        token.can_write = asked.can_write
    if asked.toolsets is not None:
        token.toolsets = [name for name in token.toolsets if name in asked.toolsets]
    token.save(update_fields=["can_write", "toolsets", "is_unscoped"])
    return token


def _keep_folders(token: Token, folder_ids: Collection[UUID]) -> None:
    kept = set(folder_ids)
    if not kept:
        raise InvalidInput("Leave at least one folder, or revoke it.", field="folder_ids")
    whole = Folder.objects.visible_to(Access.whole_library(token.owner_id))
    mine = whole if token.is_unscoped else token.folders.all()
    folders = [folder for folder in mine if folder.pk in kept]
    if len(folders) < len(kept):
        raise _widening_error("folder_ids")
    token.is_unscoped = False
    token.folders.set(folders)


def _widening_error(field: str) -> InvalidInput:
    return InvalidInput(
        "A connection can only be narrowed; connect the client again to give it more.",
        field=field,
    )


# What is swept -----------------------------------------------------------------------------


def sweep() -> int:
    """Delete codes and tokens that are over, and clients that registered and never connected."""
    now = timezone.now()
    gone, _ = Grant.objects.filter(expires__lt=now).delete()
    over = RefreshToken.objects.filter(revoked__lt=now - timedelta(days=LIVES_DAYS))
    gone += over.delete()[0]
    stale = AccessToken.objects.filter(expires__lt=now - timedelta(days=LIVES_DAYS))
    gone += stale.delete()[0]
    unused = (
        Application.objects.exclude(registration_source=Application.RegistrationSource.MANUAL)
        .filter(created__lt=now - _UNUSED_CLIENT_LIVES, refreshtoken=None)
        .exclude(connections__revoked_at=None, connections__expires_at__gt=now)
    )
    return int(gone + unused.delete()[0])
