"""Bringing things in, as a person does it: a real browser, live progress, a killed worker."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.support.quarry import Server
from tests.support.site import DocSite
from tests.support.waiting import eventually

COUNT = 10
SLOW = 120_000
NOTE = b"# Lime\n\nLime is burnt in a kiln, and then it is slaked with water."
HOSTILE = "&lt;img src=x onerror=alert(1)&gt;"


@pytest.fixture
def browser(quarry: Server) -> Iterator[BrowserContext]:
    """Somebody who is signed in, with every complaint of the pages turned into a failure."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no browser is on the PATH")
    [password] = re.findall(r"admin password  (\S+)", quarry.said)
    complaints: list[str] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        context = chromium.new_context(base_url=quarry.url)
        context.on("weberror", lambda each: complaints.append(str(each.error)))
        context.on("console", lambda each: complaints.extend(complaints_of(each, quarry.url)))
        page = context.new_page()
        page.goto("/accounts/login/")
        page.fill("[name=login]", "admin")
        page.fill("[name=password]", password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(f"{quarry.url}/")
        yield context
        chromium.close()
    assert complaints == []


def complaints_of(message: ConsoleMessage, url: str) -> list[str]:
    is_ours = message.location["url"].startswith(url)
    return [message.text] if message.type == "error" and is_ours else []


def test_links_files_exports_and_feeds_come_in_while_a_worker_is_killed(
    browser: BrowserContext, quarry: Server, site: DocSite, tmp_path: Path
) -> None:
    page = browser.pages[0]
    fill_site(site)
    add_a_link_and_watch_it(page, site)
    send_a_file(page)
    capture_a_page(browser, site)
    follow_a_feed(page, site)
    import_bookmarks(page, quarry, site, tmp_path)
    titles = [item["title"] for item in quarry.rest("GET", "items?per_page=100")["items"]]
    assert sorted(title for title in titles if title.startswith("Page ")) == [
        f"Page {number}" for number in range(1, COUNT)
    ]


def fill_site(site: DocSite) -> None:
    for number in range(1, COUNT):
        site.write(f"/bookmarked/{number}", f"quarry number {number}")
    site.write("/live", "live progress")
    site.write("/private", "a page behind a login")
    feed = (
        f"<rss version='2.0'><channel><title>{HOSTILE}</title><item><title>{HOSTILE}</title>"
        f"<guid>1</guid><link>{site.url('/live')}</link></item></channel></rss>"
    )
    site.files["/news.xml"] = (feed.encode(), "application/rss+xml")


def add_a_link_and_watch_it(page: Page, site: DocSite) -> None:
    page.goto("/add")
    page.get_by_label("Links").fill(f"{site.url('/live')}\n{site.url('/dead')}")
    page.get_by_role("button", name="Add", exact=True).click()
    underway = page.locator("#underway")
    expect(underway.get_by_text("Added", exact=True)).to_be_visible(timeout=SLOW)
    expect(underway.get_by_text("HTTP 404")).to_be_visible(timeout=SLOW)
    expect(underway.get_by_role("button", name="Try again")).to_be_visible()


def send_a_file(page: Page) -> None:
    files = [{"name": "<b>lime</b>.md", "mimeType": "", "buffer": NOTE}]
    page.set_input_files("#files", files)  # type: ignore[arg-type]
    page.get_by_role("button", name="Add files").click()
    sent = page.locator("[data-uploads] li")
    expect(sent).to_contain_text("<b>lime</b>.md", timeout=SLOW)
    expect(sent.get_by_text("Added")).to_be_visible(timeout=SLOW)


def capture_a_page(browser: BrowserContext, site: DocSite) -> None:
    """The bookmarklet on a page of another site."""
    tools = browser.pages[0]
    tools.goto("/add/capture")
    bookmarklet = tools.get_by_role("link", name="Add to Quarry").get_attribute("href")
    assert bookmarklet
    elsewhere = browser.new_page()
    elsewhere.goto(site.url("/private"))
    elsewhere.evaluate("document.title = 'As I see it'")
    with browser.expect_page() as opened:
        elsewhere.evaluate(unquote(bookmarklet.removeprefix("javascript:")))
    window = opened.value
    expect(window.get_by_text("The page as you see it now")).to_be_visible(timeout=SLOW)
    window.get_by_role("button", name="Add", exact=True).click()
    expect(window.get_by_role("link", name="As I see it")).to_be_visible(timeout=SLOW)
    elsewhere.close()
    window.close()


def follow_a_feed(page: Page, site: DocSite) -> None:
    page.goto("/sources")
    page.locator("#feed_url").fill(site.url("/news.xml"))
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.locator("h1")).to_have_text("<img src=x onerror=alert(1)>", timeout=SLOW)
    expect(page.locator("#feed").get_by_text("Already there", exact=True)).to_be_visible(
        timeout=SLOW
    )


def import_bookmarks(page: Page, quarry: Server, site: DocSite, tmp_path: Path) -> None:
    lines = [
        f'<DT><A HREF="{site.url(f"/bookmarked/{number}")}">Page {number}</A>'
        for number in range(COUNT)
    ]
    file = tmp_path / "bookmarks.html"
    file.write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>" + "".join(lines) + "</DL>")
    for turn in (1, 2):
        page.goto("/add/imports")
        page.set_input_files("#id_file", file)
        page.get_by_role("button", name="Look at it").click()
        page.get_by_role("button", name=f"Import {COUNT if turn == 1 else 1}").click()
        if turn == 1:
            eventually(lambda: site.asked["/bookmarked/1"] > 0)
            os.kill(quarry.worker_pid(), signal.SIGKILL)  # `up` starts another, which goes on
        expect(page.locator("#import .badge.ok").first).to_have_text("Done", timeout=SLOW)
        done = f"added {COUNT - 1}" if turn == 1 else f"already there {COUNT - 1}"
        expect(page.get_by_role("navigation", name="Rows by state")).to_contain_text(done)
        expect(page.get_by_role("navigation", name="Rows by state")).to_contain_text("failed 1")
