"""From a bearer secret to a token: looked up on every call, so a revoked one is dead at once."""

from datetime import timedelta

from django.utils import timezone

from knowledge.errors import InvalidToken, MissingToken
from knowledge.monitoring.metrics import TOKENS_REFUSED
from tokens.finding import find_by_digest
from tokens.models import Token
from tokens.oauth import connections
from tokens.oauth.secrets import ACCESS_PREFIX
from tokens.secrets import digest, is_well_formed

_USED_EVERY = timedelta(minutes=1)


def authenticate(secret: str) -> Token:
    """The live token with this secret; any other secret is refused, and told why."""
    refuse_malformed(secret)
    if secret.startswith(ACCESS_PREFIX):
        token = connections.find_by_access_token(secret)
        if token is None:
            raise _count_refusal(
                "unknown", "This access token is over or not for here; get a new one."
            )
    else:
        token = find_by_digest(digest(secret))
        if token is None:
            raise _count_refusal("unknown", "This token is unknown here; mint a new one.")
    if token.state != "active":
        if token.state == "revoked":
            # For good, also when its last folder went: no folder given later may revive it.
            Token.objects.filter(pk=token.pk).revoke()
        raise _count_refusal(token.state, f"This token is {token.state}; mint a new one.")
    _note_use(token)
    return token


def refuse_malformed(secret: str) -> None:
    """Refuse what can be nobody's secret, which no database need be asked for."""
    if not (secret.startswith(ACCESS_PREFIX) or is_well_formed(secret)):
        raise _count_refusal(
            "malformed", "This is not a Quarry token; check that it was copied whole."
        )


def secret_from_header(header: str | None) -> str:
    """The secret in an `Authorization: Bearer …` header."""
    if not header:
        TOKENS_REFUSED.labels("missing").inc()
        raise MissingToken("Send a token in the header `Authorization: Bearer qry_…`.")
    if "," in header:
        raise _count_refusal("malformed", "Send one Authorization header, with one token.")
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise _count_refusal("malformed", "The Authorization header must read `Bearer qry_…`.")
    return secret.strip()


def _count_refusal(reason: str, message: str) -> InvalidToken:
    TOKENS_REFUSED.labels(reason).inc()
    return InvalidToken(message)


def _note_use(token: Token) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > _USED_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
