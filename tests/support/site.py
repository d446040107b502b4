"""A documentation site of two hundred pages, with all that makes sites hard to crawl."""

import gzip
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

TRAP_LINKS = 20
HTML = "text/html; charset=utf-8"

Handler = Callable[[Request], Response]


def page(title: str, *words: str, links: tuple[str, ...] = (), head: str = "") -> str:
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = "".join(f"<p>{paragraph}</p>" for paragraph in words)
    return (
        f"<!doctype html><html lang='en'><head><title>{title}</title>{head}</head><body>"
        f"<nav><ul>{anchors}</ul></nav><main><h1>{title}</h1>{text}</main></body></html>"
    )


def words_on(subject: str) -> str:
    return (
        f"This page is about {subject}, which the rest of the documentation takes for granted. "
        f"Whoever wants to know more of {subject} reads on, for there is much to be said of it."
    )


@dataclass
class DocSite:
    """Answers from its own tables, counts what it was asked, and knows versions by ETag."""

    server: HTTPServer
    pages: dict[str, str] = field(default_factory=dict)
    moved: dict[str, tuple[int, str]] = field(default_factory=dict)
    files: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    """What is sent beside a page."""
    handlers: dict[str, Handler] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    """Paths that are answered with a status and nothing else."""
    robots: str = ""
    real: set[str] = field(default_factory=set)
    """The paths that a whole crawl comes to keep."""
    asked: Counter[str] = field(default_factory=Counter)
    """By path and query, however it was answered."""
    served: Counter[str] = field(default_factory=Counter)
    """Answers with a body."""
    agents: set[str] = field(default_factory=set)
    before_answering: Callable[[str], None] = lambda path: None

    def __post_init__(self) -> None:
        self.server.expect_request(re.compile(".*")).respond_with_handler(self._answer)

    def url(self, path: str = "/") -> str:
        return str(self.server.url_for(path))

    @property
    def host(self) -> str:
        return f"{self.server.host}:{self.server.port}"

    def forget(self) -> None:
        self.asked.clear()
        self.served.clear()

    def write(self, path: str, subject: str, *links: str, head: str = "") -> None:
        """Put a page there: in Markdown if its name says so."""
        if path.endswith(".md"):
            led = "".join(f"- [{link}]({link})\n" for link in links)
            text = f"# {subject.capitalize()}\n\n{words_on(subject)}\n\n{led}"
            self.files[path] = (text.encode(), "text/markdown; charset=utf-8")
            return
        self.pages[path] = page(subject.capitalize(), words_on(subject), links=links, head=head)

    def _answer(self, request: Request) -> Response:
        query = request.query_string.decode()
        asked = request.path + (f"?{query}" if query else "")
        self.asked[asked] += 1
        self.agents.add(request.headers.get("User-Agent", ""))
        self.before_answering(asked)
        answer = self._found(request, asked)
        if answer.status_code == 200:
            tag = f'"{sha256(answer.get_data()).hexdigest()[:16]}"'
            if request.headers.get("If-None-Match") == tag:
                return Response(status=304, headers={"ETag": tag})
            answer.headers["ETag"] = tag
            self.served[asked] += 1
        return answer

    def _found(self, request: Request, asked: str) -> Response:
        if asked in self.broken:
            return Response(status=self.broken[asked])
        if asked in self.moved:
            status, to = self.moved[asked]
            return Response(status=status, headers={"Location": to})
        if asked in self.files:
            body, kind = self.files[asked]
            return Response(body, content_type=kind)
        if asked in self.pages:
            headers = self.headers.get(asked)
            return Response(self.pages[asked], headers=headers, content_type=HTML)
        if asked == "/robots.txt" and self.robots:
            return Response(self.robots, content_type="text/plain")
        for beginning, handler in self.handlers.items():
            if asked.startswith(beginning):
                return handler(request)
        return Response("Nothing here.", status=404, content_type="text/plain")


def sitemap(*urls: str) -> bytes:
    rows = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
    ).encode()


def sitemap_index(*urls: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</sitemapindex>'
    ).encode()


def handbook(server: HTTPServer, count: int = 200) -> DocSite:
    """So many pages, told of in every way there is, between redirects, copies and a trap.

    What only links lead to, and what llms.txt names, is Markdown.
    """
    site = DocSite(server)
    paths = [f"/guide/topic-{number}{'.md' if number % 3 else ''}" for number in range(count - 1)]
    in_sitemap, in_llms, linked = paths[0::3], paths[1::3], paths[2::3]
    site.real = {"/", *paths}
    half = len(in_sitemap) // 2
    site.robots = (
        "User-agent: *\nDisallow: /private/\nAllow: /private/open\n"
        f"Sitemap: {site.url('/sitemap-index.xml')}\n"
    )
    site.files["/sitemap-index.xml"] = (
        sitemap_index(site.url("/sitemap-1.xml"), site.url("/sitemap-2.xml.gz")),
        "application/xml",
    )
    first = sitemap(*map(site.url, [*in_sitemap[:half], "/private/in-sitemap"]))
    site.files["/sitemap-1.xml"] = (first, "application/xml")
    packed = gzip.compress(sitemap(*map(site.url, in_sitemap[half:])), mtime=0)
    site.files["/sitemap-2.xml.gz"] = (packed, "application/gzip")
    llms = "# Handbook\n\n" + "\n".join(f"- [{path}]({path}): a page" for path in in_llms)
    site.files["/llms.txt"] = (llms.encode(), "text/plain")
    site.write("/", "the whole handbook", *linked[:20], "/old-home", "/calendar/1", "/private/x")
    for number, path in enumerate(paths):
        site.write(path, f"subject {number}", *_neighbours(path, linked, number))
    _add_copies(site, paths)
    site.handlers["/calendar/"] = endless
    return site


def _neighbours(path: str, linked: list[str], number: int) -> tuple[str, ...]:
    """Each page leads home, to a copy of itself, into the trap and on to the next ones."""
    near = linked[number % len(linked) :][:3]
    return ("/", f"{path}?utm_source=nav", f"{path}/#top", "/calendar/1", *near)


def _add_copies(site: DocSite, paths: list[str]) -> None:
    site.moved["/old-home"] = (301, "/")
    site.moved["/guide/old"] = (301, paths[7])
    site.moved["/leaves"] = (302, "https://elsewhere.example/page")
    site.pages["/guide/copy"] = site.pages[paths[3]]
    claim = f'<link rel="canonical" href="{site.url(paths[5])}">'
    site.write("/guide/print", "a printed page", head=claim)
    site.write(paths[6], "subject 6", "/guide/old", "/leaves", "/guide/copy", "/guide/print")


def endless(request: Request) -> Response:
    """Every page of a calendar leads to others that nobody has ever seen."""
    number = int(request.path.rstrip("/").rpartition("/")[2])
    links = tuple(f"/calendar/{number * TRAP_LINKS + step}" for step in range(1, TRAP_LINKS))
    text = page(f"Day {number}", words_on(f"day {number} of the calendar"), links=links)
    return Response(text, content_type=HTML)
