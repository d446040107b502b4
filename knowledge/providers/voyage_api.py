"""Voyage's failures as our own errors."""

from collections.abc import Mapping

from knowledge.errors import ProviderUnavailable

REFUSED = 400


def error_of_status(status: int | None, headers: Mapping[str, str]) -> ProviderUnavailable:
    """Our own error for a failed call; no status means that no answer came."""
    if status in (401, 403):
        return bad_key("Voyage refused the key")
    if status == 429:
        return _failure("Voyage is limiting our rate; try again later.", status, headers)
    if status is None or status == 408 or status >= 500:
        return _failure("Voyage did not answer; try again later.", status, headers)
    if 400 <= status < 500:
        message = "Voyage refused the request; check the model and its dimensions."
        return ProviderUnavailable(message, retryable=False, status=REFUSED)
    return unusable()


def bad_key(reason: str) -> ProviderUnavailable:
    message = f"{reason}: set VOYAGE_API_KEY to one that is valid."
    return ProviderUnavailable(message, retryable=False, setting="VOYAGE_API_KEY")


def unusable() -> ProviderUnavailable:
    message = "Voyage sent an answer that cannot be used; check VOYAGE_BASE_URL."
    return ProviderUnavailable(message, retryable=False)


def _failure(message: str, status: int | None, headers: Mapping[str, str]) -> ProviderUnavailable:
    wait = headers.get("Retry-After", "")
    seconds = min(int(wait), 3600) if wait.isdecimal() else 0
    return ProviderUnavailable(message, retryable=True, status=status, retry_after_sec=seconds)
