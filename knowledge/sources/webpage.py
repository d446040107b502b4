"""Web pages: the main text as Markdown, from bytes that we fetched ourselves."""

import base64
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from knowledge.errors import IngestFailed
from knowledge.sources import canonical
from knowledge.sources.child import run_in_child
from knowledge.sources.extracted import Extracted

SECONDS = 20
MEGABYTES = 1_500
SHORTEST = 20
LITTLE = 400
"""With fewer characters than this, a login form or a challenge is all that a page is."""

_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_].*)?", re.IGNORECASE)
_CHALLENGE = re.compile(
    r"just a moment|attention required|access denied|are you a robot|checking your browser|"
    r"verify(ing)? (that )?you are (a )?human|security check|bot verification",
    re.IGNORECASE,
)
_NEEDS_SCRIPT = re.compile(r"(enable|requires?|turn on|activate) java ?script", re.IGNORECASE)
_PASTE = "open it in a browser, and send its text with kind text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page shows and tells; its `canonical` is a claim of its own, and never a key."""

    text: str
    title: str = ""
    author: str = ""
    language: str = ""
    published_at: datetime | None = None
    canonical: str = ""
    feeds: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    """Recordings that the page says it is about."""
    sounds: tuple[str, ...] = ()
    """Recordings that it plays, of whatever kind."""
    sounds_like_podcast: bool = False
    asks_password: bool = False
    scripts: int = 0
    links: tuple[str, ...] = ()
    """Where it leads, but for what it asks nobody to follow."""
    robots: tuple[str, ...] = ()
    """What it asks of robots, such as noindex."""


def read_page(body: bytes, *, url: str, charset: str = "") -> Extracted:
    """The page's text with what it tells of itself; a page without any is not_extractable."""
    return readable(parse_page(body, url=url, charset=charset))


def parse_page(body: bytes, *, url: str, charset: str = "") -> Page:
    """The page, taken apart in a process of its own."""
    told = run_in_child(
        "knowledge.sources.parsers.page:read",
        {"body": base64.b64encode(body).decode(), "url": url, "charset": charset},
        seconds=SECONDS,
        megabytes=MEGABYTES,
    )
    claimed = told.get("canonical", "")
    return Page(
        text=told["text"],
        title=told.get("title", ""),
        author=told.get("author", ""),
        language=_language(told.get("language", "")),
        published_at=as_moment(told.get("published", "")),
        canonical=claimed if canonical.same_site(url, claimed) else "",
        feeds=tuple(told.get("feeds", ())),
        episodes=tuple(told.get("episodes", ())),
        sounds=tuple(told.get("sounds", ())),
        sounds_like_podcast=told.get("sounds_like_podcast", False),
        asks_password=told.get("asks_password", False),
        scripts=told["scripts"],
        links=tuple(told.get("links", ())),
        robots=tuple(told.get("robots", ())),
    )


def readable(page: Page) -> Extracted:
    """The page as a text, once it is known that it is one."""
    _refuse_what_is_no_text(page)
    return Extracted(
        text=page.text,
        title=page.title,
        author=page.author,
        language=page.language,
        published_at=page.published_at,
    )


def as_moment(told: str) -> datetime | None:
    """An ISO date or moment, if it is one; a moment without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(told.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _refuse_what_is_no_text(page: Page) -> None:
    is_little = len(page.text) < LITTLE
    if is_little and _CHALLENGE.search(f"{page.title} {page.text}"):
        raise IngestFailed(
            f"The site asks whether we are human instead of showing the page; {_PASTE}.",
            reason="blocked",
        )
    if is_little and page.asks_password:
        raise _not_extractable("The page asks for a login")
    if len(page.text) >= SHORTEST and not (is_little and _NEEDS_SCRIPT.search(page.text)):
        return
    if page.scripts:
        raise _not_extractable("The page is built by scripts in the browser, and is empty without")
    raise _not_extractable("The page holds no text")


def _not_extractable(why: str) -> IngestFailed:
    return IngestFailed(f"{why}; {_PASTE}.", reason="not_extractable")


def _language(told: str) -> str:
    found = _LANGUAGE.fullmatch(told.strip())
    return found[1].lower() if found else ""
