"""What a site asks of robots, and how quickly it is asked."""

from dataclasses import dataclass, field

import pytest
from pytest_django import Settings

from knowledge.access import Access
from knowledge.crawling import crawl, documentation
from knowledge.crawling.site import Clock
from knowledge.models import Item
from tests.support.crawling import Crawl, paths, reasons
from tests.support.site import DocSite, page, words_on

pytestmark = pytest.mark.django_db


def test_robots_txt_is_kept_to_and_what_was_kept_before_it_stays(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.write("/", "the start", "/a", "/b")
    docs.write("/a", "page a")
    docs.write("/b", "page b")
    docs.robots = "User-agent: *\nDisallow: /b"
    source = crawled(docs)
    assert reasons(source) == {"/b": "robots"}
    docs.robots = "User-agent: *\nDisallow: /a"
    docs.forget()
    again = crawled(source)
    assert paths(again, "kept") == {"/", "/a", "/b"}
    assert "/a" not in docs.asked
    assert not Item.objects.filter(archived=True).exists()


@pytest.mark.parametrize("status", [404, 403, 410])
def test_a_site_without_robots_txt_allows_everything(
    docs: DocSite, crawled: Crawl, status: int
) -> None:
    docs.write("/", "the start")
    docs.broken["/robots.txt"] = status
    assert crawled(docs).state == "done"


@pytest.mark.parametrize("status", [500, 503, 429])
def test_without_an_answer_about_robots_nothing_else_is_asked_for(
    docs: DocSite, crawled: Crawl, status: int
) -> None:
    docs.write("/", "the start")
    docs.broken["/robots.txt"] = status
    source = crawled(docs)
    assert source.state == "failed"
    assert source.error.startswith(f"Its robots.txt cannot be had (HTTP {status})")
    assert set(docs.asked) == {"/robots.txt"}


@pytest.mark.parametrize("how", ["meta", "header"])
def test_noindex_keeps_a_page_out_but_not_its_links(
    docs: DocSite, crawled: Crawl, how: str
) -> None:
    docs.write("/", "the start", "/index", "/shut")
    for path, leads, said in (("/index", "/listed", "NoIndex"), ("/shut", "/behind", "none")):
        if how == "meta":
            head = f'<meta name="Robots" content="{said}, noarchive">'
            docs.write(path, f"page {path}", leads, head=head)
        else:
            docs.write(path, f"page {path}", leads)
            docs.headers[path] = {"X-Robots-Tag": f"otherbot: nofollow, quarry: {said}"}
    docs.write("/listed", "what is listed")
    docs.write("/behind", "what is behind")
    source = crawled(docs)
    assert paths(source, "kept") == {"/", "/listed"}
    assert reasons(source) == {"/index": "noindex", "/shut": "noindex"}
    assert "/behind" not in docs.asked


def test_links_that_nobody_is_to_follow_are_not_followed(docs: DocSite, crawled: Crawl) -> None:
    docs.pages["/"] = page(
        "Start",
        words_on("the start"),
        '<a rel="nofollow noopener" href="/shunned">x</a> <a href="sub/../real#part">y</a>',
        head='<base href="/base/">',
    )
    docs.write("/base/real", "a real page")
    source = crawled(docs)
    assert paths(source, "kept") == {"/", "/base/real"}
    assert "/shunned" not in docs.asked


@dataclass(frozen=True)
class Told(Clock):
    """Time that passes only when somebody sleeps."""

    times: list[float] = field(default_factory=lambda: [0.0])

    def now(self) -> float:
        return sum(self.times)

    def sleep(self, seconds: float) -> None:
        self.times.append(seconds)


@pytest.mark.parametrize(
    ("robots", "delay"),
    [("", 0.5), ("Crawl-delay: 3", 3), ("Crawl-delay: 0.1", 0.5), ("Crawl-delay: 600", 10)],
)
def test_the_site_is_left_alone_between_two_asks(
    docs: DocSite, library: Access, settings: Settings, robots: str, delay: float
) -> None:
    settings.QUARRY_CRAWL_DELAY_SEC = 0.5
    docs.robots = f"User-agent: *\n{robots}"
    docs.write("/", "the start", "/a")
    docs.write("/a", "the subject")
    source = documentation.add_source(library, name="Docs", start_url=docs.url())
    clock = Told()
    while crawl.take_turn(source.pk, clock=clock) is not None:
        pass
    polite = sum(docs.asked.values()) - docs.asked["/robots.txt"]
    assert clock.times[1:] == [pytest.approx(delay)] * polite
