"""What a token's source wrote is on its record, and can be undone."""

from datetime import timedelta

import pytest
from django.utils import timezone

from knowledge.access import Access
from knowledge.crawling import documentation
from knowledge.models import Folder, Item, Source, SourcePage
from knowledge.undo.token_writes import undo
from tests.support.crawling import Crawl, item_of, paths
from tests.support.library import Mint
from tests.support.site import DocSite

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(hours=1)


@pytest.fixture
def docs(docs: DocSite) -> DocSite:
    docs.write("/", "the start", "/a", "/b")
    docs.write("/a", "the subject")
    docs.write("/b", "the object")
    return docs


def test_pages_are_written_by_the_token_that_added_the_source(
    docs: DocSite, crawled: Crawl, mint: Mint, folder
) -> None:
    token = mint(folder("Docs"), name="reader")
    source = crawled(docs, access=token.access)
    item = item_of(source, docs, "/a")
    assert (item.added_by_token, item.added_by_agent) == (token.row.pk, token.row.agent_id)
    assert [each.name for each in item.folders.all()] == ["Docs"]


def test_a_source_that_a_token_added_is_undone_with_all_its_pages(
    docs: DocSite, crawled: Crawl, mint: Mint
) -> None:
    token = mint()
    crawled(docs, access=token.access)
    undone = undo(token.row.owner_id, token.row.pk, since=timezone.now() - LONG_AGO)
    assert undone.counts == {"item_added": 3, "row_added": 1}
    assert undone.skipped == []
    assert not Item.objects.exists()
    assert not Source.objects.exists()


def test_what_a_refresh_rewrote_and_archived_is_undone(
    docs: DocSite, crawled: Crawl, mint: Mint
) -> None:
    token = mint()
    source = crawled(docs, access=token.access)
    since = timezone.now()
    docs.write("/a", "another subject")
    del docs.pages["/b"]
    crawled(source, access=token.access)
    undone = undo(token.row.owner_id, token.row.pk, since=since)
    assert undone.counts == {"item_changed": 1, "item_rewritten": 1}
    assert "the subject" in item_of(source, docs, "/a").content.text
    assert not item_of(source, docs, "/b").archived


@pytest.mark.parametrize("delete_items", [False, True])
def test_a_deleted_source_comes_back_with_its_pages_and_items(
    docs: DocSite, crawled: Crawl, mint: Mint, delete_items: bool
) -> None:
    token = mint()
    source = crawled(docs, access=token.access)
    since = timezone.now()
    documentation.delete_source(token.access, source.pk, delete_items=delete_items)
    assert Item.objects.count() == (0 if delete_items else 3)
    assert not SourcePage.objects.exists()
    undone = undo(token.row.owner_id, token.row.pk, since=since)
    assert undone.skipped == []
    docs.forget()
    again = crawled(source, access=token.access)
    assert paths(again, "kept") == {"/", "/a", "/b"}
    assert Item.objects.count() == 3
    assert not {"/", "/a", "/b"} & set(docs.served)


def test_changes_of_a_source_are_undone(docs: DocSite, crawled: Crawl, mint: Mint) -> None:
    token = mint()
    source = crawled(docs, access=token.access)
    since = timezone.now()
    wished = documentation.SourceChanges(name="Other", exclude=["/b"], depth=5)
    documentation.update_source(token.access, source.pk, wished)
    crawled(source, access=token.access)
    undo(token.row.owner_id, token.row.pk, since=since)
    source.refresh_from_db()
    assert (source.name, source.exclude, source.depth) == ("Handbook", [], 3)


def test_a_source_goes_on_when_its_folder_is_deleted(
    docs: DocSite, crawled: Crawl, library: Access, folder
) -> None:
    shelf = folder("Docs")
    source = crawled(docs, folder_id=shelf.pk)
    Folder.objects.get(pk=shelf.pk).delete()
    docs.write("/", "the start of more", "/a", "/b", "/c")
    docs.write("/c", "what is new")
    again = crawled(source)
    assert paths(again, "kept") == {"/", "/a", "/b", "/c"}
    assert documentation.get_source(library, source.pk).folder_id is None


def test_an_item_taken_out_of_the_folder_is_out_of_the_source_s_reach(
    docs: DocSite, crawled: Crawl, library: Access, folder
) -> None:
    shelf = folder("Docs")
    source = crawled(docs, folder_id=shelf.pk)
    item = item_of(source, docs, "/a")
    item.filings.all().delete()
    docs.write("/a", "another subject")
    crawled(source)
    item.refresh_from_db()
    assert "the subject" in item.content.text
    assert source.pages.get(url=docs.url("/a")).reason == "out_of_reach"
