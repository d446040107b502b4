"""One site, asked politely: nothing but its own addresses, and never too quickly."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from knowledge.errors import IngestFailed
from knowledge.sources import http
from knowledge.sources.addresses import Place, read_redirect, read_url

SECONDS = 30
MAX_BYTES = 20_000_000
MOST_HOPS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Clock:
    """The time, and how to let it pass; tests have another."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(slots=True)
class Site:
    """The origin of a start address, and when it may be asked again."""

    start_url: str
    delay_sec: float
    clock: Clock = field(default_factory=Clock)
    _origin: tuple[str, str, int] = field(init=False)
    _asked_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._origin = read_url(self.start_url).origin
        # As if it had been asked just now: another worker may have.
        self._asked_at = self.clock.now()

    def address(self, path: str) -> str:
        return replace(read_url(self.start_url), target=path).url

    def has(self, url: str) -> bool:
        """Whether an address is of this very site, by scheme, host and port."""
        try:
            return read_url(url).origin == self._origin
        except IngestFailed:
            return False

    @contextmanager
    def ask(
        self, url: str, headers: Mapping[str, str] | None = None, *, max_bytes: int = MAX_BYTES
    ) -> Iterator[tuple[http.Answer, Iterator[bytes]]]:
        """One answer, a redirect being one too; failures are IngestFailed, as of any link."""
        if not self.has(url):
            raise IngestFailed("The address is of another site.", reason="off_site")
        self._wait()
        with http.stream(
            url, headers=headers, max_bytes=max_bytes, seconds=SECONDS, max_redirects=0
        ) as answer:
            yield answer

    def fetch(self, url: str, *, max_bytes: int) -> http.Answer:
        """A whole answer, by redirects that stay within the site."""
        for _ in range(MOST_HOPS + 1):
            with self.ask(url, max_bytes=max_bytes) as (answer, pieces):
                target = redirect_of(answer)
                if target is None:
                    return replace(answer, body=b"".join(pieces))
            url = target.url
        raise IngestFailed("It redirects over and over.", reason="too_many_redirects")

    def _wait(self) -> None:
        left = self._asked_at + self.delay_sec - self.clock.now()
        if left > 0:
            self.clock.sleep(left)
        self._asked_at = self.clock.now()


def redirect_of(answer: http.Answer) -> Place | None:
    """Where an answer sends on to; None if it does not."""
    location = answer.headers.get("location", "")
    if answer.status not in _REDIRECTS or not location:
        return None
    try:
        return read_redirect(read_url(answer.url), location)
    except ValueError:  # of a host in broken brackets
        raise IngestFailed("It leads to no address that can be read.", reason="bad_url") from None
