"""Calls of a server that speaks OpenAI's protocol, with its errors as ours.

Ollama, vLLM, LM Studio, TEI, LocalAI and OpenAI itself speak it. The operator names the address, so
it does not pass the guard that is for callers' links.
"""

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2

from knowledge.errors import ProviderUnavailable

LONGEST_ANSWER = 128 * 1024 * 1024
LONGEST_WORDS = 300
LONGEST_REFUSAL = 4_000
"""Bytes in which it is looked for that an account is used up, which some say by a code alone."""
LONGEST_WAIT = 3_600
CONNECT_SEC = 10.0

_USED_UP = re.compile(r"insufficient_quota|insufficient (funds|credit)|billing", re.IGNORECASE)
_TOO_MUCH = re.compile(r"context|token|too (long|large|many)|length|batch", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIServer:
    """A server's address, the key that opens it, and the model that does one job there."""

    url: str
    key: str = field(default="", repr=False)
    model: str
    job: str = "OPENAI"
    """What the settings of its address and its key begin with, after `QUARRY_`."""

    @property
    def place(self) -> str:
        """The server, as messages name it: nothing of its address that could be secret."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def is_openai(self) -> bool:
        return urlsplit(self.url).hostname == "api.openai.com"

    def ask(self, path: str, *, seconds: float, **sent: Any) -> dict[str, Any]:
        """The JSON object that the server answers, whole and within the time."""
        until = monotonic() + seconds
        with self._open(path, seconds, sent) as answer:
            body = self._read(answer, until)
        try:
            found = json.loads(body)
        except ValueError as error:
            raise self.unusable("not JSON") from error
        if not isinstance(found, dict):
            raise self.unusable("no object")
        if found.get("error"):  # some say so with status 200
            raise self._refusal(200, body, httpx2.Headers())
        return found

    def stream(self, path: str, *, seconds: float, **sent: Any) -> Iterator[dict[str, Any]]:
        """The events of a streamed answer, each as it comes."""
        until = monotonic() + seconds
        with self._open(path, seconds, sent) as answer:
            for line in answer.iter_lines():
                if monotonic() > until:
                    raise self._too_slow(seconds)
                told = line.removeprefix("data:").strip()
                if not line.startswith("data:") or told == "[DONE]":
                    continue
                event = self._event(told)
                if event.get("error") or event.get("object") == "error":  # the latter is vLLM's
                    raise self._refusal(500, told.encode(), answer.headers)
                yield event

    def unusable(self, why: str) -> ProviderUnavailable:
        """An answer that is not what the protocol says; another try may bring a better one."""
        message = f"The model server {self.place} sent an answer that cannot be used ({why})."
        return ProviderUnavailable(message, may_pass=True, retryable=True)

    def refuse(self, what: str, **details: object) -> ProviderUnavailable:
        """What no other try would change."""
        return ProviderUnavailable(what, may_pass=False, retryable=False, **details)

    @contextmanager
    def _open(self, path: str, seconds: float, sent: dict[str, Any]) -> Iterator[httpx2.Response]:
        if not (self.key.isascii() and self.key.isprintable()):
            raise self._bad_key("cannot be sent")
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        if "json" in sent:
            headers["Content-Type"] = "application/json"
            sent = {"content": _as_bytes(sent["json"])}
        timeout = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SEC))
        try:
            with httpx2.stream(
                "POST",
                self.url + path,
                headers=headers,
                timeout=timeout,
                verify=_tls_context(),
                **sent,
            ) as answer:
                if not answer.is_success:
                    body = self._read(answer, monotonic() + seconds)
                    raise self._refusal(answer.status_code, body, answer.headers)
                yield answer
        except httpx2.TimeoutException as error:
            raise self._too_slow(seconds) from error
        except httpx2.HTTPError as error:
            message = f"The model server {self.place} did not answer; see that it runs there."
            raise ProviderUnavailable(message, may_pass=True, retryable=True) from error

    def _read(self, answer: httpx2.Response, until: float) -> bytes:
        """The whole body; the client's own limit is only for each piece of it."""
        pieces, size = [], 0
        for piece in answer.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > LONGEST_ANSWER:
                raise self.unusable("far too long")
            if monotonic() > until:
                raise self._too_slow(0)
        return b"".join(pieces)

    def _event(self, told: str) -> dict[str, Any]:
        try:
            event = json.loads(told)
        except ValueError as error:
            raise self.unusable("a broken event") from error
        return event if isinstance(event, dict) else {}

    def _refusal(self, status: int, body: bytes, headers: httpx2.Headers) -> ProviderUnavailable:
        """Our own error for theirs, with their words where those are about the request."""
        words = self._words(body)
        is_used_up = bool(_USED_UP.search(body[:LONGEST_REFUSAL].decode(errors="replace")))
        if status in (401, 403):
            return self._bad_key("was refused" if self.key else "is missing")
        if status == 402 or (status < 500 and is_used_up):
            return self.refuse(f"The account at {self.place} is used up: {words}", status=status)
        if status == 429:
            message = f"The model server {self.place} is limiting our rate; try again later."
            wait = _seconds_of(headers.get("retry-after", ""))
            return ProviderUnavailable(
                message, may_pass=True, retryable=True, status=status, retry_after_sec=wait
            )
        if status in (408, 409, 424, 425) or status >= 500:
            message = f"The model server {self.place} failed: {words}"
            return ProviderUnavailable(message, may_pass=True, retryable=True, status=status)
        if status == 404:
            return self.refuse(
                f"The model server {self.place} has no model {self.model}, or not at this address: "
                f"{words}",
                status=status,
                setting=f"QUARRY_{self.job}",
            )
        is_too_much = status in (413, 422) or bool(_TOO_MUCH.search(words))
        return self.refuse(
            f"The model server {self.place} refused the request: {words}",
            status=status,
            is_too_much=is_too_much,
        )

    def _words(self, body: bytes) -> str:
        """The server's own words, wherever it puts them, as a sentence, and never our key."""
        try:
            told = json.loads(body)
        except ValueError:
            told = {}
        found = told.get("error", told) if isinstance(told, dict) else ""
        if isinstance(found, dict):
            names = ("message", "detail", "code", "type")
            found = next((found[name] for name in names if found.get(name)), "")
        words = " ".join(str(found).split()) or "it did not say why"
        words = (words.replace(self.key, "…") if self.key else words)[:LONGEST_WORDS]
        return words if words.endswith((".", "!", "?")) else f"{words}."

    def _bad_key(self, what: str) -> ProviderUnavailable:
        setting = f"QUARRY_{self.job}_KEY"
        return self.refuse(
            f"The key for the model server {self.place} {what}: set {setting}, or "
            "QUARRY_OPENAI_KEY, to one that is valid.",
            setting=setting,
        )

    def _too_slow(self, seconds: float) -> ProviderUnavailable:
        within = f" within {seconds:g} seconds" if seconds else " in time"
        message = f"The model server {self.place} did not answer{within}."
        return ProviderUnavailable(message, may_pass=True, retryable=True)


def _as_bytes(body: Any) -> bytes:
    """As JSON, where a lone surrogate, which texts can smuggle in, becomes a question mark."""
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")


def _seconds_of(wait: str) -> float:
    """What Retry-After asks for; its other form, a date, is not used by model servers."""
    try:
        return min(max(float(wait), 0.0), LONGEST_WAIT)
    except ValueError:
        return 0.0


@cache
def _tls_context() -> ssl.SSLContext:
    """Made once: reading every authority's certificate takes longer than a call."""
    return httpx2.create_ssl_context()
