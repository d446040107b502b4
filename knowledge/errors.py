"""What can go wrong, in the product's words; each edge maps these to its own codes."""

from collections.abc import Collection
from typing import ClassVar
from uuid import UUID


class QuarryError(Exception):
    """A failure that the caller is told about: a code, one sentence and its details."""

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class InternalError(QuarryError):
    """Something of ours broke; the caller learns that, and nothing of how."""


class InvalidInput(QuarryError):
    """An argument is missing, malformed or out of range."""

    code = "invalid_body"


class InvalidId(QuarryError):
    """An identifier is not of the form that identifiers have."""

    code = "invalid_id"


class ForbiddenBinary(QuarryError):
    """Bytes were sent where only text and links are taken."""

    code = "forbidden_binary"


class MissingToken(QuarryError):
    """No credential came with the call."""

    code = "missing_bearer_token"


class InvalidToken(QuarryError):
    """The credential is unknown, malformed, expired or revoked."""

    code = "invalid_token"


class QuotaExceeded(QuarryError):
    """A monthly allowance is used up."""

    code = "quota_exceeded"


class CapabilityDenied(QuarryError):
    """The token is real but may not do this kind of thing."""

    code = "capability_denied"


class OutOfScope(QuarryError):
    """Folders were named that the token does not reach."""

    code = "forbidden_scope"

    def __init__(self, folder_ids: Collection[UUID]) -> None:
        super().__init__(
            "Some folders are outside this token's reach; leave them out and call again.",
            out_of_scope=sorted(str(folder_id) for folder_id in folder_ids),
        )


class NotFound(QuarryError):
    """Nothing here that this caller may know of."""

    code = "not_found"


def not_found(what: str, *, hint: str = "") -> NotFound:
    """Missing and hidden look the same to a caller: neither says whether there is such a thing."""
    sentence = f"No such {what}, or it is out of this token's reach"
    return NotFound(f"{sentence}; {hint}." if hint else f"{sentence}.")


class NameTaken(QuarryError):
    """A name that must be unique is in use."""

    code = "name_taken"


class Conflict(QuarryError):
    """The ask does not fit the state things are in."""

    code = "conflict"


class MethodNotAllowed(QuarryError):
    """A route was asked by a method that it does not have."""

    code = "method_not_allowed"


class PayloadTooLarge(QuarryError):
    """More bytes than are taken in one go."""

    code = "payload_too_large"


class UnsupportedMedia(QuarryError):
    """A kind of content that is not taken."""

    code = "unsupported_media"


class IngestFailed(QuarryError):
    """The source could not be reached, read or understood."""

    code = "ingest_failed"


class RateLimited(QuarryError):
    """The token has used its calls for this hour."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_sec: int, limit: int) -> None:
        super().__init__(message, retry_after_sec=retry_after_sec, limit=limit)
        self.retry_after_sec = retry_after_sec


class Busy(QuarryError):
    """Too many calls of this caller are in progress; the same call may go well in a moment."""

    code = "busy"

    def __init__(self, message: str, *, retry_after_sec: int = 1) -> None:
        super().__init__(message, retry_after_sec=retry_after_sec)


class ProviderUnavailable(QuarryError):
    """A vendor or model that the ask needs did not answer, or is not configured."""

    code = "provider_unavailable"
