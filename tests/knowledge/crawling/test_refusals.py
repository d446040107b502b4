"""Nothing leads a crawl off its site."""

import pytest
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.sources.addresses import read_url
from tests.support.crawling import Crawl, paths, reasons
from tests.support.site import DocSite, sitemap

PRIVATE = "http://10.0.0.1/secret"
pytestmark = pytest.mark.django_db


def test_nothing_leads_off_the_site(docs: DocSite, crawled: Crawl, settings: Settings) -> None:
    """By a link, a redirect, the sitemap, llms.txt or a canonical address."""
    with HTTPServer() as other:
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS += [f"{other.host}:{other.port}"]
        away = str(other.url_for("/away"))
        docs.robots = f"Sitemap: {docs.url('/sitemap.xml')}\nSitemap: {other.url_for('/map.xml')}"
        docs.files["/sitemap.xml"] = (sitemap(away, PRIVATE, docs.url("/a")), "application/xml")
        docs.files["/llms.txt"] = (f"[x]({away}) [y]({PRIVATE})".encode(), "text/plain")
        docs.write("/", "the start", away, PRIVATE, "//10.0.0.1/x", "/leaves", "/inside", "/map")
        docs.write("/a", "the subject", head=f'<link rel="canonical" href="{away}">')
        docs.moved["/leaves"] = (301, away)
        docs.moved["/inside"] = (302, PRIVATE)
        docs.moved["/map"] = (302, "http://169.254.169.254/latest/meta-data")
        source = crawled(docs)
        assert other.log == []
    assert paths(source, "kept") == {"/", "/a"}
    assert {reasons(source)[path] for path in ("/leaves", "/inside", "/map")} <= {
        "off_site",
        "refused_address",
    }
    assert {read_url(url).authority for url in source.pages.values_list("url", flat=True)} == {
        docs.host
    }


def test_a_start_that_leads_to_another_site_names_it(docs: DocSite, crawled: Crawl) -> None:
    docs.moved["/"] = (301, "https://docs.example/new")
    source = crawled(docs)
    assert source.state == "failed"
    assert "It leads to https://docs.example/new" in source.error


def test_a_name_that_leads_inside_fails_without_a_request(
    docs: DocSite, crawled: Crawl, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = [(2, 1, 6, "", ("10.0.0.1", 443))]
    monkeypatch.setattr("knowledge.sources.addresses.socket.getaddrinfo", lambda *_, **__: inside)
    source = crawled(docs, start_url="https://docs.example.org/")
    assert source.state == "failed"
    assert "private or special address" in source.error


@pytest.mark.parametrize(
    "address",
    [
        *("http://[::1", "//[x", "http://[fe80::1%25eth0]/", "http://%00/", "javascript:alert(1)"),
        *("http://user:pass@HOST/a", "http://HOST:99999/", "\\\\HOST\\a", "http://HOST/\ud800"),
        *("data:text/html,x", "http://HOST/" + "a" * 9000, "mailto:ada@example.org", "/\x00"),
    ],
)
def test_an_address_that_makes_no_sense_is_passed_over_wherever_it_stands(
    docs: DocSite, crawled: Crawl, address: str
) -> None:
    address = address.replace("HOST", docs.host)
    docs.write("/", "the start", address.replace("\ud800", "&#xd800;"), "/moved", "/real")
    docs.write("/real", "a real page")
    written = address.encode(errors="replace").replace(b"&", b"&amp;")
    docs.files["/sitemap.xml"] = (sitemap(written.decode()), "application/xml")
    docs.files["/llms.txt"] = (b"[x](" + written + b") <" + written + b">", "text/plain")
    docs.moved["/moved"] = (302, written.decode().replace("\x00", "%00"))
    source = crawled(docs)
    assert source.state == "done"
    assert paths(source, "kept") == {"/", "/real"}
