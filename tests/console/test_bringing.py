"""Adding, imports, feeds and sources: each page as its user walks it, with and without scripts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.ingest import arrivals
from knowledge.ingest.uploads import begin_upload
from knowledge.models import Feed, Folder, ImportBatch, ImportRow, Item, Source, Upload
from knowledge.storage import live_store
from tests.support.adding import run_jobs, serve_recording, wav
from tests.support.children import read_in_this_process
from tests.support.exports import BOOKMARKS, VAULT, zipped
from tests.support.news import News
from tests.support.pages import ARTICLE, serve_page

HTMX = {"HX-Request": "true"}
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
NOTE = b"# Lime\n\nLime is burnt in a kiln, and then it is slaked with water."


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    monkeypatch.setattr(arrivals, "RETRY_SEC", 0)
    settings.QUARRY_HOME = tmp_path
    read_in_this_process(monkeypatch)


def seen(visitor: Client, url: str, **kwargs: Any) -> str:
    answer = visitor.get(url, **kwargs)
    assert answer.status_code == 200
    return answer.content.decode()


def upload(visitor: Client, body: bytes, name: str = "bookmarks.html") -> str:
    answer = visitor.post("/add/imports", {"file": SimpleUploadedFile(name, body)})
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


# Adding ------------------------------------------------------------------------------------------


def test_lines_without_a_link_are_told_and_stay_until_they_are_read(visitor: Client) -> None:
    links = "https://example.org/a\nexample.org/b\n<b>no</b> link\n\nnode.js is fine, see below"
    page = visitor.post("/add", {"links": links}, follow=True).content.decode()
    assert "2 links are on the way." in page
    told = "“&lt;b&gt;no&lt;/b&gt; link”, “node.js is fine, see below”."
    assert f"Left out, because there is no link in it: {told}" in page
    urls = ImportRow.objects.order_by("position").values_list("url", flat=True)
    assert list(urls) == ["https://example.org/a", "https://example.org/b"]
    refreshed = seen(visitor, "/add/underway", headers={"HX-Request": "true"})
    assert 'id="toasts"' not in refreshed  # which would take away what the page says


def test_links_are_added_without_a_script_and_their_progress_is_shown(
    visitor: Client, site: HTTPServer
) -> None:
    page = serve_page(site, "/lime", ARTICLE)
    site.expect_request("/gone").respond_with_data("", status=404)
    answer = visitor.post(
        "/add", {"links": f"{page}\n{site.url_for('/gone')}", "tags": "rock, kiln"}
    )
    assert answer["Location"] == "/add"
    assert "Waiting" in seen(visitor, "/add")
    run_jobs()
    shown = seen(visitor, "/add/underway", headers=HTMX)
    assert "Added" in shown
    assert "There is nothing at this address (HTTP 404)" in shown
    assert "every 10s" not in shown
    assert Item.objects.get().tags == ["rock", "kiln"]
    row = ImportRow.objects.get(state="failed")
    visitor.post(f"/add/imports/{row.batch_id}/{row.pk}/drop")
    assert "404" not in seen(visitor, "/add")


def test_an_address_fills_the_form_and_adds_nothing(visitor: Client) -> None:
    for asked in ("url=https://example.org/a", "title=T&text=See+https://example.org/a+there"):
        assert ">\nhttps://example.org/a</textarea>" in seen(visitor, f"/add?{asked}")
    page = seen(visitor, "/add?title=Thought&text=Only+words")
    assert ">\nOnly words</textarea>" in page
    assert 'value="Thought"' in page
    assert ImportBatch.objects.count() == 0


def test_errors_stand_at_their_field(visitor: Client) -> None:
    answer = visitor.post("/add", {"links": "no link in here"})
    assert answer.status_code == 422
    assert "paste at least one link" in answer.content.decode()
    answer = visitor.post("/add", {"kind": "text", "title": "T", "text": "short"})
    assert answer.status_code == 422
    assert "between 20 and 500,000 characters" in answer.content.decode()
    answer = visitor.post("/add", {"links": "https://example.org", "folder": "not-one"})
    assert answer.status_code == 422


def test_a_text_is_added_and_can_be_undone(visitor: Client, folder: Any) -> None:
    stone = folder("Stone")
    text = {"kind": "text", "title": "Lime", "text": NOTE.decode(), "folder": stone.pk, "tags": "a"}
    assert visitor.post("/add", text)["Location"] == "/add"
    assert Item.objects.get().folders.get() == stone
    undo = re.search(r'action="(/undo/[^"]+)"', seen(visitor, "/add"))
    assert undo
    visitor.post(undo[1])
    assert not Item.objects.exists()


def test_a_recording_asks_before_it_is_transcribed(visitor: Client, site: HTTPServer) -> None:
    visitor.post("/add", {"links": serve_recording(site, seconds=90)})
    run_jobs()
    page = seen(visitor, "/add")
    assert "A recording of 1.5 minutes" in page
    assert "Transcribe" in page
    row = ImportRow.objects.get()
    answer = visitor.post(f"/add/imports/{row.batch_id}/{row.pk}/retry", headers=HTMX)
    assert 'id="underway"' in answer.content.decode()
    run_jobs()
    assert Item.objects.get().content.is_ready


def test_files_are_added_by_a_plain_form(visitor: Client, folder: Any) -> None:
    files = [
        SimpleUploadedFile("lime.md", NOTE),
        SimpleUploadedFile("talk.wav", wav(90)),
        SimpleUploadedFile(f"{HOSTILE}.exe", b"MZ\x90"),
    ]
    stone = folder("Stone")
    visitor.post("/add/files", {"files": files, "folder": str(stone.pk), "tags": "x"})
    page = seen(visitor, "/add")
    assert "1 file on the way." in page
    assert "<script>alert" not in page
    assert "A recording of 1.5 minutes" in page
    run_jobs()
    assert Item.objects.get().folders.get() == stone
    talk = Upload.objects.get(filename="talk.wav")
    visitor.post(f"/add/files/{talk.pk}/add")
    run_jobs()
    assert {item.content.kind for item in Item.objects.all()} == {"markdown", "audio"}
    assert all(item.tags == ["x"] for item in Item.objects.all())
    assert "A recording of" not in seen(visitor, "/add")


def test_a_script_sends_a_file_in_three_steps(visitor: Client, library: Access) -> None:
    def ask(url: str, **body: Any) -> Any:
        return visitor.post(url, json.dumps(body), content_type="application/json")

    begun = ask("/add/files/begin", name="lime.md", type="", size=len(NOTE)).json()
    assert begun["url"].startswith("/api/v1/uploads/")
    live_store().put(Upload.objects.get().key, NOTE)
    done = ask(f"/add/files/{begun['id']}/finish", folder="", tags="a, b")
    item = Item.objects.get()
    assert done.json() == {"state": "added", "item": str(item.pk)}
    assert item.tags == ["a", "b"]
    refused = ask("/add/files/begin", name="a.exe", type="application/x-msdownload", size=3)
    assert refused.status_code == 415
    assert refused.json()["problem"]
    assert ask("/add/files/begin", name="a.md", size="many").status_code == 400


def test_a_failed_file_says_why_and_is_tried_again_or_removed(visitor: Client) -> None:
    visitor.post("/add/files", {"files": [SimpleUploadedFile("b.pdf", b"%PDF-1.7 broken")]})
    run_jobs()
    item = Item.objects.get()
    assert item.content.error in seen(visitor, "/add").replace("&#x27;", "'")
    assert f'data-arrival="{item.pk}" data-state="failed"' in seen(visitor, "/add")
    visitor.post(f"/add/underway/{item.pk}/retry")
    assert Item.objects.get().content.is_at_work
    assert "every 10s" in seen(visitor, "/add")
    run_jobs()
    visitor.post(f"/add/underway/{item.pk}/remove")
    assert not Item.objects.exists()


# Imports -----------------------------------------------------------------------------------------


def test_an_export_is_looked_at_then_imported(visitor: Client, site: HTTPServer) -> None:
    base = str(site.url_for("")).rstrip("/")
    for name in ("lime", "slate"):
        serve_page(site, f"/{name}", ARTICLE.replace("stone", name))
    site.expect_request("/gone").respond_with_data("", status=404)
    address = upload(visitor, BOOKMARKS.format(base=base).encode())
    page = seen(visitor, address)
    assert "Import 3" in page
    assert "javascript: addresses are not read" in page
    assert Item.objects.count() == 0
    visitor.post(address, {"folder": "export", "tags": "old"})
    assert "Stop" in seen(visitor, address)
    run_jobs()
    page = seen(visitor, address)
    assert "failed 1" in page
    assert "HTTP 404" in page
    assert "Try again what failed" in page
    assert "Slate" in seen(visitor, f"{address}?state=added", headers=HTMX)
    assert {folder.name for folder in Folder.objects.all()} == {"Stone", "Stone / Deep"}
    assert "bookmarks.html" in seen(visitor, "/add/imports")
    visitor.post(f"{address}/retry")
    assert ImportBatch.objects.get().state == "running"
    visitor.post(f"{address}/stop")
    assert "Go on" in seen(visitor, address)


def test_a_preview_is_forgotten_when_asked(visitor: Client) -> None:
    address = upload(visitor, zipped(VAULT), "vault.zip")
    assert "1 file .png" in seen(visitor, address)
    assert visitor.post(f"{address}/stop")["Location"] == "/add/imports"
    assert not ImportBatch.objects.exists()


@pytest.mark.parametrize("body", [b"", b"just words", b"\x00\x01"])
def test_a_file_that_is_no_export_is_refused_at_its_field(visitor: Client, body: bytes) -> None:
    file = SimpleUploadedFile("x.html", body)
    answer = visitor.post("/add/imports", {"file": file})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()


# Feeds and sources -------------------------------------------------------------------------------


def test_a_feed_is_followed_changed_and_let_go(visitor: Client, site: HTTPServer) -> None:
    news = News(site)
    news.publish("chalk", "slate")
    answer = visitor.post("/sources", {"kind": "feed", "url": news.url, "max_entries": 1})
    address = answer["Location"]
    run_jobs()
    page = seen(visitor, address)
    assert "older than your subscription" in page
    assert Item.objects.count() == 1
    assert "Stone news" in seen(visitor, "/sources")
    entry = Feed.objects.get().entries.get(state="skipped")
    visitor.post(f"{address}/{entry.pk}")
    run_jobs()
    assert Item.objects.count() == 2
    visitor.post(address, {"title": "Renamed", "max_entries": 5, "tags": "n"})
    assert "Renamed" in seen(visitor, address)
    assert visitor.post(address, {"title": "", "max_entries": 999}).status_code == 422
    visitor.post(f"{address}/pause")
    assert "Paused" in seen(visitor, address)
    news.status = 503
    visitor.post(f"{address}/poll")
    run_jobs()
    assert "The server has a fault of its own" in seen(visitor, "/sources")
    visitor.post(f"{address}/unfollow")
    assert not Feed.objects.exists()
    assert Item.objects.count() == 2


def test_a_feed_that_cannot_be_had_is_told_at_its_field(visitor: Client, site: HTTPServer) -> None:
    page = serve_page(site, "/page", ARTICLE)
    answer = visitor.post("/sources", {"kind": "feed", "url": page, "max_entries": 1})
    assert answer.status_code == 422
    assert "the page names none" in answer.content.decode()


def test_a_site_is_crawled_watched_and_deleted(visitor: Client, site: HTTPServer) -> None:
    start = serve_page(site, "/docs", ARTICLE)
    site.expect_request("/robots.txt").respond_with_data("", status=404)
    site.expect_request("/sitemap.xml").respond_with_data("", status=404)
    form = {"kind": "source", "start_url": start, "name": "Docs", "depth": 1, "max_pages": 1}
    address = visitor.post("/sources", form)["Location"]
    assert "Waiting" in seen(visitor, address)
    source = Source.objects.get()
    assert "Docs" in seen(visitor, "/sources", headers=HTMX)
    again = visitor.post("/sources", form)
    assert again.status_code == 422
    assert "of that name already" in again.content.decode()
    visitor.post(address, {"verb": "delete"})
    assert not Source.objects.filter(pk=source.pk).exists()


# Capturing ---------------------------------------------------------------------------------------


def test_a_captured_page_is_the_persons_own_and_added_once(visitor: Client, owner: Any) -> None:
    page = {"url": "https://example.org/private", "html": ARTICLE, "title": "My page"}
    for _ in range(2):
        assert "is in your library" in visitor.post("/capture", page).content.decode()
    item = Item.objects.get()
    assert (item.title, item.content.owner_id) == ("My page", owner.pk)
    assert item.content.url == "https://example.org/private"
    assert not item.content.is_shared


def test_a_capture_without_the_page_adds_the_link(visitor: Client) -> None:
    visitor.post("/capture", {"url": "https://example.org/a"})
    assert ImportRow.objects.get().url == "https://example.org/a"
    answer = visitor.post("/capture", {"url": "javascript:alert(1)", "html": ARTICLE})
    assert answer.status_code == 422


def test_the_capturing_window_may_be_spoken_to_and_shown_in_no_frame(visitor: Client) -> None:
    answer = visitor.get("/capture", {"url": f"https://example.org/{HOSTILE}", "title": HOSTILE})
    assert answer["Cross-Origin-Opener-Policy"] == "unsafe-none"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
    assert "<script>alert" not in answer.content.decode()
    assert visitor.get("/add")["Cross-Origin-Opener-Policy"] == "same-origin"


def test_a_capture_needs_the_token_of_its_form(owner: Any) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)
    page = {"url": "https://example.org/a", "html": ARTICLE}
    assert strict.post("/capture", page).status_code == 403
    assert not Item.objects.exists()


def test_phones_can_share_to_the_console(visitor: Client) -> None:
    told = Client().get("/manifest.webmanifest")
    assert told["Content-Type"] == "application/manifest+json"
    assert told.json()["share_target"]["action"] == "/add"
    assert 'rel="manifest"' in seen(visitor, "/add")
    page = seen(visitor, "/add/capture")
    assert 'href="javascript:(()=' in page
    assert "http://testserver" in page


# Others, and hostile words -----------------------------------------------------------------------


def test_nothing_of_somebody_else_is_shown_or_can_be_touched(
    visitor: Client, other_visitor: Client, library: Access, site: HTTPServer
) -> None:
    news = News(site, title="Secret news")
    news.publish("chalk")
    feed = visitor.post("/sources", {"kind": "feed", "url": news.url, "max_entries": 1})["Location"]
    batch = upload(visitor, b"https://example.org/secret", "secret.txt")
    visitor.post("/add", {"links": "https://example.org/secret"})
    row = ImportRow.objects.filter(batch__format="links", batch__filename="").get()
    file = begin_upload(library, filename="secret.md", media_type="text/markdown", size=3).upload
    for url in ("/add", "/add/underway", "/add/imports", "/sources"):
        assert "ecret" not in seen(other_visitor, url)
    for url in (feed, batch):
        assert other_visitor.get(url).status_code == 404
    posts = [
        *(f"{feed}/{verb}" for verb in ("poll", "pause", "unfollow", "1")),
        *(f"{batch}/{verb}" for verb in ("stop", "resume", "retry", "agree")),
        f"/add/imports/{row.batch_id}/{row.pk}/retry",
        f"/add/imports/{row.batch_id}/{row.pk}/drop",
        f"/add/files/{file.pk}/add",
    ]
    for url in posts:
        assert other_visitor.post(url).status_code == 404, url
    told = json.dumps({"folder": "", "tags": ""})
    finish = f"/add/files/{file.pk}/finish"
    assert other_visitor.post(finish, told, content_type="application/json").status_code == 404
    assert Feed.objects.get().state == "active"
    assert ImportBatch.objects.filter(state="preview").exists()


def test_hostile_words_stay_words(visitor: Client, site: HTTPServer) -> None:
    news = News(site, title="&lt;script&gt;alert(1)&lt;/script&gt;")
    news.publish("chalk", title="&lt;img src=x onerror=alert(1)&gt;")
    feed = visitor.post("/sources", {"kind": "feed", "url": news.url, "max_entries": 1})["Location"]
    bookmarks = (
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>"
        "<DT><H3>&lt;script&gt;alert(1)&lt;/script&gt;</H3><DL>"
        f'<DT><A HREF="{site.url_for("/chalk")}?x=&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;" '
        'TAGS="&lt;script&gt;alert(1)&lt;/script&gt;">&lt;script&gt;alert(1)&lt;/script&gt;</A>'
        '<DT><A HREF="javascript:alert(1)">&lt;script&gt;alert(1)&lt;/script&gt;</A></DL></DL>'
    )
    batch = upload(visitor, bookmarks.encode(), "<script>alert(1)</script>.html")
    pages = [seen(visitor, batch)]
    visitor.post(batch, {"folder": "export"})
    visitor.post("/add", {"links": f"{site.url_for('/gone')}/<script>alert(1)</script>"})
    run_jobs()
    pages += [seen(visitor, url) for url in (feed, batch, "/add", "/add/imports", "/sources")]
    for page in pages:
        assert not re.search(r"<script>alert|<img src=x|href=\"javascript:alert", page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages[0]
