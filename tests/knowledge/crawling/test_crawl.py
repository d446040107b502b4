"""What a crawl finds, and what it takes for the same."""

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.crawling import documentation
from knowledge.library.items import create_folder
from knowledge.models import Content, Item
from tests.support.crawling import Crawl, item_of, paths, reasons
from tests.support.files import pdf
from tests.support.site import DocSite

pytestmark = pytest.mark.django_db


def test_each_page_is_its_owner_s_own_document(
    docs: DocSite, crawled: Crawl, library: Access
) -> None:
    folder = create_folder(library, "Docs")
    docs.write("/", "the start", "/next")
    docs.write("/next", "what follows")
    source = crawled(docs, folder_id=folder.pk)
    item = item_of(source, docs, "/next")
    assert (item.type, item.title, item.tags) == ("document", "What follows", [])
    assert item.content.url == docs.url("/next")
    assert (item.content.owner_id, item.content.canonical_url) == (library.owner_id, None)
    assert item.folders.get() == folder


def test_two_owners_have_texts_of_their_own(
    docs: DocSite, crawled: Crawl, library: Access, stranger: User
) -> None:
    docs.write("/", "the start")
    mine = crawled(docs)
    crawled(docs, access=Access.whole_library(stranger.pk))
    docs.write("/", "the start, said otherwise")
    crawled(mine)
    texts = dict(Content.objects.values_list("owner__username", "text"))
    assert "said otherwise" in texts["ada"]
    assert "said otherwise" not in texts["eve"]


def test_depth_counts_links_from_the_start(docs: DocSite, crawled: Crawl) -> None:
    for number in range(5):
        docs.write(f"/{number}" if number else "/", f"page {number}", f"/{number + 1}")
    source = crawled(docs, depth=2)
    assert paths(source, "kept") == {"/", "/1", "/2"}
    documentation.update_source(
        Access.whole_library(source.owner_id),
        source.pk,
        documentation.SourceChanges(depth=4),
    )
    docs.write("/2", "page 2, which has changed", "/3")
    assert paths(crawled(source), "kept") == {"/", "/1", "/2", "/3", "/4"}


def test_include_and_exclude_choose_what_is_kept_and_the_start_is_always_looked_at(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.write("/", "the start", "/docs/a", "/docs/old/b", "/blog/c")
    for path in ("/docs/a", "/docs/old/b", "/blog/c"):
        docs.write(path, f"page {path}")
    source = crawled(docs, include=["/docs/*"], exclude=["/docs/old/*"])
    assert paths(source, "kept") == {"/docs/a"}
    assert reasons(source) == {"/": "outside"}
    assert set(docs.asked) >= {"/", "/docs/a"}
    assert not {"/docs/old/b", "/blog/c"} & set(docs.asked)


def test_pages_that_new_patterns_leave_out_are_archived_and_come_back_with_them(
    docs: DocSite, crawled: Crawl, library: Access
) -> None:
    docs.write("/", "the start", "/blog/a")
    docs.write("/blog/a", "a post")
    source = crawled(docs)
    without = documentation.SourceChanges(exclude=["/blog/*"])
    documentation.update_source(library, source.pk, without)
    crawled(source)
    assert [item.title for item in Item.objects.filter(archived=True)] == ["A post"]
    documentation.update_source(library, source.pk, documentation.SourceChanges(exclude=[]))
    crawled(source)
    assert not Item.objects.filter(archived=True).exists()


def test_no_more_pages_are_kept_than_asked_for(docs: DocSite, crawled: Crawl) -> None:
    docs.write("/", "the start", *(f"/page-{letter}" for letter in "abcdefgh"))
    for letter in "abcdefgh":
        docs.write(f"/page-{letter}", f"letter {letter}")
    source = crawled(docs, max_pages=3)
    assert len(paths(source, "kept")) == 3
    assert (source.percent, source.state) == (100, "done")
    documentation.update_source(
        Access.whole_library(source.owner_id), source.pk, documentation.SourceChanges(max_pages=5)
    )
    assert len(paths(crawled(source), "kept")) == 5


def test_documents_are_kept_and_pictures_and_archives_are_not_asked_for(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.write("/", "the start", "/manual.pdf", "/notes.md", "/photo.png", "/all.zip", "/sound")
    docs.files["/manual.pdf"] = (
        pdf("The manual is about stone and little else."),
        "application/pdf",
    )
    note = b"# Notes\n\nA note about granite, with [a link](/linked) in it.\n"
    docs.files["/notes.md"] = (note, "text/markdown")
    docs.files["/sound"] = (b"ID3" + bytes(500), "audio/mpeg")
    docs.write("/linked", "what a note leads to")
    source = crawled(docs)
    assert paths(source, "kept") == {"/", "/manual.pdf", "/notes.md", "/linked"}
    assert reasons(source) == {"/sound": "unsupported_media"}
    assert not {"/photo.png", "/all.zip"} & set(docs.asked)
    content = item_of(source, docs, "/manual.pdf").content
    assert (content.kind, content.locators[0]["page"]) == ("pdf", 1)


def test_redirects_copies_and_other_addresses_are_the_same_page(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.moved["/"] = (302, "/en/latest")
    docs.moved["/en/latest"] = (301, "/en/latest/")
    docs.write("/en/latest/", "the start", "/copy", "/print", "/moved")
    docs.pages["/copy"] = docs.pages["/en/latest/"]
    docs.write("/print", "the print", head='<link rel="canonical" href="/target">')
    docs.write("/target", "the true page", head='<link rel="canonical" href="/print">')
    docs.moved["/moved"] = (308, "/target")
    source = crawled(docs)
    assert paths(source, "kept") == {"/en/latest/", "/target"}
    assert reasons(source) == {
        "/": "redirect",
        "/copy": "same_text",
        "/print": "canonical",
        "/moved": "redirect",
    }
    assert set(docs.asked.values()) == {1}


def test_a_copy_takes_the_place_of_the_page_that_is_gone(docs: DocSite, crawled: Crawl) -> None:
    docs.write("/", "the start", "/a", "/copy")
    docs.write("/a", "the subject")
    docs.pages["/copy"] = docs.pages["/a"]
    source = crawled(docs)
    assert paths(source, "same") == {"/copy"}
    del docs.pages["/a"]
    again = crawled(source)
    assert (paths(again, "gone"), paths(again, "kept")) == ({"/a"}, {"/", "/copy"})
    assert Item.objects.filter(archived=False).count() == 2


def test_a_page_that_claims_to_be_another_that_is_not_there_is_kept_itself(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.write("/", "the start", "/a", "/lost")
    docs.write("/a", "the subject", head='<link rel="canonical" href="/lost">')
    source = crawled(docs)
    assert paths(source, "kept") == {"/"}
    assert paths(crawled(source), "kept") == {"/", "/a"}


def test_a_login_that_stands_before_everything_archives_nothing(
    docs: DocSite, crawled: Crawl
) -> None:
    docs.write("/", "the start", "/a")
    docs.write("/a", "the subject")
    source = crawled(docs)
    docs.moved["/a"] = docs.moved["/"] = (302, "/login")
    docs.write("/login", "who you are")
    again = crawled(source)
    assert paths(again, "kept") == {"/", "/a"}
    assert not Item.objects.filter(archived=True).exists()
