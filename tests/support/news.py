"""A feed of pages that a test changes, and counts how it is asked."""

from dataclasses import dataclass, field

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.pages import ARTICLE, serve_page

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title>
<link>/</link>{items}</channel></rss>"""
ENTRY = """<item><title>{title}</title><guid isPermaLink="false">{guid}</guid><link>{link}</link>
<pubDate>Mon, {day:02} Jan 2024 10:00:00 +0000</pubDate></item>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom stone</title>
<link href="/"/><entry><id>urn:1</id><title>First</title><link href="/first"/>
<published>2024-01-01T00:00:00Z</published></entry></feed>"""


@dataclass
class News:
    """A feed at /feed with one page for each entry; it knows whether it has changed."""

    site: HTTPServer
    title: str = "Stone news"
    items: list[str] = field(default_factory=list)
    status: int = 200
    asked: list[str] = field(default_factory=list)
    """The status of each answer, in order."""

    def __post_init__(self) -> None:
        self.site.expect_request("/feed").respond_with_handler(self._answer)

    @property
    def url(self) -> str:
        return str(self.site.url_for("/feed"))

    def publish(self, *names: str, title: str = "") -> None:
        for name in names:
            link = serve_page(self.site, f"/{name}", ARTICLE.replace("stone", name))
            day = len(self.items) + 1
            entry = ENTRY.format(title=title or name, guid=f"guid-{name}", link=link, day=day)
            self.items.insert(0, entry)

    def _answer(self, request: Request) -> Response:
        etag = f'"{len(self.items)}"'
        is_same = request.headers.get("If-None-Match") == etag
        status = 304 if is_same and self.status == 200 else self.status
        self.asked.append(str(status))
        body = RSS.format(title=self.title, items="".join(self.items)) if status == 200 else ""
        return Response(body, status, {"ETag": etag}, content_type="application/rss+xml")
