"""What goes wrong on a site, and what nobody wants to have back."""

import pytest

from knowledge.access import Access
from knowledge.crawling import frontier
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import delete_item
from knowledge.models import Content, Item
from tests.support.crawling import Crawl, item_of, paths, reasons
from tests.support.site import DocSite, sitemap

pytestmark = pytest.mark.django_db


def test_a_failure_that_may_pass_is_tried_again_and_archives_nothing(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.write("/", "the start", "/a")
    docs.write("/a", "the subject")
    source = crawled(docs)
    docs.broken["/a"] = 503
    docs.forget()
    again = crawled(source)
    assert docs.asked["/a"] == frontier.MAX_TRIES
    assert (again.state, paths(again, "kept")) == ("done", {"/", "/a"})
    assert again.pages.get(url=docs.url("/a")).reason == "server_error"
    assert not Item.objects.filter(archived=True).exists()


def test_a_page_that_fails_once_is_kept_the_next_time(docs: DocSite, crawled: Crawl) -> None:
    docs.write("/", "the start", "/a")
    docs.write("/a", "the subject")
    docs.broken["/a"] = 500

    def mend(path: str) -> None:
        if docs.asked["/a"] == 2:
            docs.broken.clear()

    docs.before_answering = mend
    assert paths(crawled(docs), "kept") == {"/", "/a"}


def test_a_site_that_stops_answering_fails_the_crawl_and_keeps_what_there_is(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.write("/", "the start", *(f"/page-{number}" for number in range(30)))
    for number in range(30):
        docs.broken[f"/page-{number}"] = 500
    source = crawled(docs)
    assert source.state == "failed"
    assert source.error.startswith("The site stopped answering, and the crawl with it: ")
    assert paths(source, "kept") == {"/"}
    docs.broken.clear()
    for number in range(30):
        docs.write(f"/page-{number}", f"subject {number}")
    assert len(paths(crawled(source), "kept")) == 31


def test_a_start_that_is_not_there_says_so(docs: DocSite, crawled: Crawl) -> None:
    source = crawled(docs)
    assert (source.state, source.error) == (
        "failed",
        "There is nothing at this address (HTTP 404); check the URL.",
    )


@pytest.mark.parametrize(
    "body", [b"", b"not xml", b"<urlset><url><loc>", b"\x1f\x8bbroken", b"<?xml ?><a/>"]
)
def test_a_broken_sitemap_is_passed_over(docs: DocSite, crawled: Crawl, body: bytes) -> None:
    docs.write("/", "the start", "/a")
    docs.write("/a", "the subject")
    docs.files["/sitemap.xml"] = (body, "application/xml")
    assert paths(crawled(docs), "kept") == {"/", "/a"}


def test_a_sitemap_is_read_up_to_its_fault_and_expands_no_entity(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.write("/", "the start")
    docs.write("/a", "the subject")
    whole = sitemap(docs.url("/a"), docs.url("/b"))
    docs.files["/sitemap.xml"] = (whole[: whole.index(b"/b")], "application/xml")
    assert paths(crawled(docs), "kept") == {"/", "/a"}
    bomb = b'<!DOCTYPE x [<!ENTITY a "boom">]><urlset><url><loc>&a;</loc></url></urlset>'
    docs.files["/sitemap.xml"] = (bomb, "application/xml")
    assert crawled(docs, name="Again").state == "done"


def test_a_page_whose_item_was_deleted_does_not_come_back(
    docs: DocSite, crawled: Crawl, library: Access
) -> None:
    docs.write("/", "the start", "/a")
    docs.write("/a", "the subject")
    source = crawled(docs)
    delete_item(library, item_of(source, docs, "/a").pk)
    for _ in range(2):
        docs.write("/a", f"another subject, for the {docs.asked['/a']}th time")
        again = crawled(source)
        assert reasons(again) == {"/a": "deleted"}
    assert Item.objects.count() == 1


def test_what_its_owner_archived_stays_so_though_its_text_changes(
    docs: DocSite, crawled: Crawl, library: Access
) -> None:
    docs.write("/", "the start", "/a")
    docs.write("/a", "the subject")
    source = crawled(docs)
    item = item_of(source, docs, "/a")
    update_item(library, item.pk, ItemChanges(archived=True, title="My own title"))
    docs.write("/a", "another subject")
    crawled(source)
    item.refresh_from_db()
    assert (item.archived, item.title) == (True, "My own title")
    assert "another subject" in Content.objects.get(pk=item.content_id).text
