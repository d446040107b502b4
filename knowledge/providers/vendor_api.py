"""The HTTP side of a speech vendor: every failure comes out as one of our own errors."""

import re
import ssl
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx2

from knowledge.errors import IngestFailed, ProviderUnavailable, QuarryError

LONGEST_MESSAGE = 300
LONGEST_WAIT = 3_600

_USED_UP = re.compile(
    r"balance is negative|insufficient (funds|credit)|payment required|"
    r"(quota|usage limit|credits?)\b.*\b(exceeded|reached|exhausted|used up)|"
    r"(exceeded|reached|exhausted|used up)\b.*\b(quota|usage limit|credits?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorApi:
    """One vendor's API and the key that opens it."""

    vendor: str
    base_url: str
    key: str = field(repr=False)
    key_header: str
    key_setting: str
    url_setting: str
    seconds: float
    """For each step of a call: to connect, to send or get the next bytes."""

    def ask(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        """What the vendor answers, which is always a JSON object."""
        if not self.key or not self.key.isascii():
            raise self._key_needed("needs a key")
        try:
            answer = httpx2.request(
                method,
                self.base_url.rstrip("/") + path,
                headers={self.key_header: self.key},
                timeout=self.seconds,
                verify=_tls_context(),
                **sent,
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self.outage("did not answer") from error
        if answer.status_code >= 400:
            raise self._refusal(answer)
        return self._object(answer)

    def outage(self, what: str, **details: object) -> ProviderUnavailable:
        """A failure of the vendor's that may pass by itself."""
        message = f"{self.vendor} {what}; it is tried again later."
        return ProviderUnavailable(message, may_pass=True, **details)

    def unusable(self) -> ProviderUnavailable:
        """An answer that is not what the vendor's documents say."""
        return self.outage(f"sent an answer that cannot be used (see {self.url_setting})")

    def failure(self, message: str) -> IngestFailed:
        """What the vendor will not do with this recording, in its own words."""
        words = " ".join(message.split())[:LONGEST_MESSAGE] or "it did not say why"
        return IngestFailed(
            f"{self.vendor} could not transcribe this recording: {words}",
            reason="transcription_failed",
        )

    def _object(self, answer: httpx2.Response) -> dict[str, Any]:
        try:
            found = answer.json()
        except ValueError as error:
            raise self.unusable() from error
        if not answer.is_success or not isinstance(found, dict):
            raise self.unusable()
        return found

    def _refusal(self, answer: httpx2.Response) -> QuarryError:
        status, message = answer.status_code, _message(answer)
        if status == 402 or (status < 500 and _USED_UP.search(message)):
            return ProviderUnavailable(
                f"The {self.vendor} account is used up; top it up there, then retry.",
                reason="vendor_quota",
                may_pass=False,
            )
        if status in (401, 403):
            return self._key_needed("refused the key")
        if status == 429:
            wait = answer.headers.get("retry-after", "")
            seconds = min(int(wait), LONGEST_WAIT) if wait.isdecimal() else 0
            return self.outage("is limiting our rate", retry_after_sec=seconds)
        if status == 408 or status >= 500:
            return self.outage("did not answer")
        return self.failure(message or f"it refused with status {status}")

    def _key_needed(self, what: str) -> ProviderUnavailable:
        return ProviderUnavailable(
            f"{self.vendor} {what}: set {self.key_setting} to one that is valid.",
            setting=self.key_setting,
            may_pass=False,
        )


@cache
def _tls_context() -> ssl.SSLContext:
    """Made once: reading every authority's certificate takes longer than a call."""
    return httpx2.create_ssl_context()


def _message(answer: httpx2.Response) -> str:
    """The vendor's own words, wherever it puts them; nothing when there are none."""
    try:
        found = answer.json()
    except ValueError:
        return ""
    told = found if isinstance(found, dict) else {}
    words = (told.get(name) for name in ("error", "message", "detail"))
    return next((word for word in words if isinstance(word, str) and word), "")
