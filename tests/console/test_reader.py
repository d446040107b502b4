"""The reader: a text at its place, rendered so that nothing in it runs, and what one does there."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from console.markdown import render_markdown
from console.reading import LONGEST_PART, Reading, find_in_text
from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.library import originals
from knowledge.models import Content, Item, Relation
from tests.support.adding import run_jobs
from tests.support.files import pdf
from tests.support.library import LONG_ENOUGH, Add, Mint, Minted
from tests.support.one_connection import share_connection
from tests.support.uploads import finish, stored

HOSTILE = """
<script>alert(1)</script> <svg onload=alert(1)> <iframe srcdoc="<script>alert(1)</script>">
[a](javascript:alert(1)) [b](data:text/html,x) [c](vbscript:x) [d](JaVaScRiPt:alert(1))
![p](javascript:alert(1)) ![q](https://evil.example/pixel.png "onerror=alert(1)")
<a href="x" onclick="alert(1)">x</a> <style>*{display:none}</style> <base href="//evil.example/">

```"><script>alert(1)</script>
</code></pre><script>alert(1)</script>
```

| <img src=x onerror=alert(1)> | b |
|---|---|
| `</td><script>alert(1)</script>` | ![](x) |
"""
ALLOWED_TAG = re.compile(
    r"</?(p|a|br|hr|em|strong|s|code|pre|span|div|blockquote|h[2-6]|[uo]l|li|table|thead|tbody|tr|th|td)"
    r'( (href|rel|class|data-c|tabindex|start)="[^"<>]*")*>'
)


def read(client: Client, item: Item, more: str = "") -> str:
    answer = client.get(f"/items/{item.pk}{more}")
    assert answer.status_code == 200
    return answer.content.decode()


def article(page: str) -> str:
    return page.partition("<article")[2].partition("</article>")[0]


def change(client: Client, item: Item, **fields: Any) -> str:
    answer = client.post(f"/items/{item.pk}/change", fields, follow=True)
    return answer.content.decode()


def undo(client: Client, page: str) -> None:
    found = re.search(r'action="(/undo/[^"]+)"', page)
    assert found
    client.post(found[1])


def upload(token: Minted, data: bytes, name: str, media_type: str) -> Item:
    address = stored(token, data, filename=name, mime_type=media_type)
    status, body = finish(token, address)
    assert status < 300, body
    return Item.objects.get(pk=body["user_item_id"])


@pytest.fixture
def home(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.QUARRY_HOME = tmp_path
    # A test's rows are seen only by its own connection, which must not be closed.
    share_connection(monkeypatch)
    monkeypatch.setattr(originals, "close_old_connections", lambda: None)


# How texts are rendered -----------------------------------------------------------------------


def test_markdown_can_do_nothing() -> None:
    html = str(render_markdown(HOSTILE, base_url="https://example.org/a/"))
    left = ALLOWED_TAG.sub("", html)
    assert "<" not in left
    assert not re.search(r'<a href="(?!https?:|mailto:)[^"]', html)
    assert "<img" not in html


def test_markdown_keeps_what_a_text_is_made_of() -> None:
    table, code = "| x | y |\n|---|---|\n| 1 | 2 |", "```python\ndef f(): pass\n```"
    html = str(render_markdown("\n\n".join(["# One", table, code, "$E = mc^2$"])))
    assert "<h2 " in html
    assert "<td>1</td>" in html
    assert '<span class="k">def</span>' in html
    assert "$E = mc^2$" in html


def test_every_block_knows_its_characters() -> None:
    text = "# One\r\n\r\nTwo words\n\n- three\n- four\n\nfive"
    html = str(render_markdown(text, offset=100))
    spans = [tuple(map(int, found)) for found in re.findall(r'data-c="(\d+),(\d+)"', html)]
    pieces = [text[start - 100 : end - 100].strip() for start, end in spans]
    assert pieces == ["# One", "Two words", "- three", "- four", "five"]


def test_a_span_marks_the_blocks_it_touches() -> None:
    html = str(render_markdown("one\n\ntwo\n\nthree", marked=(5, 8)))
    assert re.findall(r'class="marked"[^>]*>(\w+)', html) == ["two"]


def test_links_of_a_page_lead_from_where_it_stood_and_into_the_library() -> None:
    html = str(render_markdown("[a](../b) [c](quarry://items/1#t=3)", base_url="https://x.org/d/e"))
    assert 'href="https://x.org/b"' in html
    assert "[c]" not in html


def test_a_long_text_is_cut_between_paragraphs_and_never_within_code() -> None:
    code = "```\n" + "x = 1\n\ny = 2\n" * 2_500 + "```"
    text = "\n\n".join([*(f"Paragraph {n} of the book." for n in range(2_000)), code, "The end."])
    reading = Reading(Content(kind="text", text=text))
    spans = [reading.span_of(number + 1) for number in range(len(reading.starts))]
    assert len(spans) > 2
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(text[start:end].count("```") % 2 == 0 for start, end in spans)
    assert reading.number_at(LONGEST_PART + 500) == 2


@pytest.mark.parametrize("text", ["", "word " * 60_000, "\n" * 90_000, "```\n" * 30_000])
def test_any_text_is_cut_into_all_of_itself(text: str) -> None:
    reading = Reading(Content(kind="text", text=text))
    spans = [reading.span_of(number + 1) for number in range(len(reading.starts))]
    assert "".join(text[start:end] for start, end in spans) == text


def test_a_transcript_is_shown_in_turns_with_their_seconds() -> None:
    text = "Ada: Hello there. How are you?\n\nBob: Fine."
    locators = [
        {"start": 5, "end": 17, "start_sec": 0.0, "end_sec": 2.0, "speaker": "Ada"},
        {"start": 18, "end": 30, "start_sec": 2.0, "end_sec": 4.0, "speaker": "Ada"},
        {"start": 37, "end": 42, "start_sec": 83.4, "end_sec": 85.0, "speaker": "Bob"},
    ]
    content = Content(kind="audio", text=text, locators=locators)
    turns = Reading(content).part(1, marked=(38, 40)).turns
    assert [(turn.speaker, len(turn.said)) for turn in turns] == [("Ada", 2), ("Bob", 1)]
    assert [said.is_marked for turn in turns for said in turn.said] == [False, False, True]


def test_words_are_found_in_any_case_and_over_lines() -> None:
    found = find_in_text("The Next\nexplosion. A next explosion.", "next explosion")
    assert [(each.start, each.end) for each in found] == [(4, 18), (22, 36)]
    assert find_in_text("A **next** explosion.", "next explosion")[0].words == "next** explosion"
    assert not find_in_text("anything", "  ")


# The page -------------------------------------------------------------------------------------


def test_a_hit_leads_to_its_part_of_a_long_text(visitor: Client, library: Access) -> None:
    text = "\n\n".join(f"Chapter {number}. " + "word " * 200 for number in range(100))
    item = add_text(library, title="Book", text=text, in_kb=False)
    assert "Chapter 0." in article(read(visitor, item))
    at = text.index("Chapter 60.")
    page = article(read(visitor, item, f"?at={at},{at + 11}"))
    assert "Chapter 0." not in page
    assert re.search(r'class="marked"[^>]*>Chapter 60\.', page)
    number = re.search(r'data-part="(\d+)"', page)
    assert number
    part = visitor.get(f"/items/{item.pk}/parts/{int(number[1]) + 1}").content.decode()
    assert "<html" not in part
    assert "data-part" in part
    assert article(read(visitor, item, "?whole=1")).count("Chapter ") == 100


def test_places_are_stepped_through_without_scripts(visitor: Client, add: Add) -> None:
    item = add("Stones", "Basalt is grey.\n\nAlso basalt.\n\nThe last basalt is here.")
    page = read(visitor, item, "?find=basalt")
    assert "3 places" in page
    for nth in ("1 of 3", "2 of 3", "3 of 3", "1 of 3"):
        [link] = re.findall(r'rel="next" href="([^"#]+)', page)
        page = read(visitor, item, unescape(link))
        assert nth in page
    [link] = re.findall(r'rel="prev" href="([^"#]+)', page)
    page = read(visitor, item, unescape(link))
    assert "3 of 3" in page
    assert "The last" in article(page).partition('class="marked"')[2]
    assert "Not in this text" in read(visitor, item, "?find=zebra")


def test_a_hit_marks_the_passage_and_not_the_whole_chunk(visitor: Client, add: Add) -> None:
    around = " ".join(f"Sentence {number} is about slate and nothing else." for number in range(9))
    item = add("Stones", f"{around}\n\nThe zebra runs here.\n\n{around}")
    found = visitor.get("/?q=zebra").content.decode()
    [(start, end)] = set(re.findall(rf"/items/{item.pk}\?at=(\d+),(\d+)", found))
    passage = item.content.text[int(start) : int(end)]
    assert "zebra" in passage
    assert len(passage) <= 360 < len(item.content.text)


def test_a_recording_elsewhere_plays_there_at_the_right_second(
    visitor: Client, library: Access
) -> None:
    content = Content.objects.create(
        owner_id=library.owner_id,
        kind="podcast",
        url="https://example.org/episode",
        media_url="https://cdn.example.org/a.mp3",
        title="Episode",
        text="Hello there. Goodbye.",
        locators=[
            {"start": 0, "end": 12, "start_sec": 0.0, "end_sec": 4.0},
            {"start": 13, "end": 21, "start_sec": 83.5, "end_sec": 90.0},
        ],
    )
    item = Item.objects.create(owner_id=library.owner_id, content=content)
    page = read(visitor, item)
    assert '<a href="https://cdn.example.org/a.mp3#t=0" target="_blank"' in page
    assert "Play at cdn.example.org" in page
    assert "<audio" not in page
    content.media_url = "javascript:alert(1)"
    content.save()
    assert "javascript" not in read(visitor, item)


def test_find_in_text_links_to_every_place(visitor: Client, add: Add) -> None:
    item = add("Stones", "Granite and basalt. Basalt and granite.")
    page = read(visitor, item, "?find=basalt")
    assert "2 places" in page
    assert '#char=12,18"' in page


def test_title_tags_search_and_archive_change_and_can_be_undone(visitor: Client, add: Add) -> None:
    item = add("Granite")
    for fields, said in (
        ({"title": "Gneiss"}, "Renamed."),
        ({"tags": "hard, grey"}, "Tags changed."),
        ({"in_kb": "0"}, "Search does not find it any more."),
        ({"archived": "1"}, "Archived."),
    ):
        before = Item.objects.values().get()
        page = change(visitor, item, **fields)
        assert said in page
        assert Item.objects.values().get() != before
        undo(visitor, page)
        now = Item.objects.values().get()
        changed = {"updated_at", "index_version", "index_status"}
        assert {k: v for k, v in now.items() if k not in changed} == {
            k: v for k, v in before.items() if k not in changed
        }


def test_folders_are_just_those_that_are_ticked(visitor: Client, add: Add, folder: Any) -> None:
    one, two = folder("One"), folder("Two")
    item = add("Granite", "", one)
    asked = {"folder": [str(two.pk)], "new_folder": "Three"}
    page = visitor.post(f"/items/{item.pk}/folders", asked, follow=True).content.decode()
    assert {each.name for each in item.folders.all()} == {"Two", "Three"}
    undo(visitor, page)
    assert {each.name for each in item.folders.all()} == {"One"}


def test_an_item_is_deleted_and_comes_back(visitor: Client, add: Add) -> None:
    item = add("Granite")
    answer = visitor.post(f"/items/{item.pk}/do/delete", follow=True)
    assert "deleted" in answer.content.decode()
    assert visitor.get(f"/items/{item.pk}").status_code == 404
    undo(visitor, answer.content.decode())
    assert "Granite" in read(visitor, item)


def test_a_summary_tells_its_price_before_it_is_asked_for(
    visitor: Client, add: Add, settings: Settings
) -> None:
    item = add("Granite", "Granite is old. " * 50)
    settings.QUARRY_SUMMARIZER = "claude"
    settings.ANTHROPIC_API_KEY = ""
    assert "ANTHROPIC_API_KEY" in read(visitor, item)
    settings.ANTHROPIC_API_KEY = "key"
    price = re.search(r"Sum up for about \$(\d\.\d{3})", read(visitor, item))
    assert price
    assert 0.001 < float(price[1]) < 0.1


def test_relations_and_who_added_it_are_told(
    visitor: Client, owner: User, library: Access, add: Add, mint: Mint
) -> None:
    token = mint(name="Claude Code")
    answer = token.client.post(
        "/api/v1/ingest", {"kind": "text", "title": "Found", "text": LONG_ENOUGH * 3}, format="json"
    )
    item = Item.objects.get(pk=answer.json()["user_item_id"])
    other = add("Basalt")
    Relation.objects.create(owner=owner, source=item, target=other, type="supports")
    page = read(visitor, item)
    assert "by Claude Code" in page
    assert "Basalt" in page
    assert "supports" in page


def test_what_failed_says_why_and_can_be_tried_again(visitor: Client, add: Add) -> None:
    item = add("Granite")
    Content.objects.update(state="failed", error="The site did not answer.")
    page = read(visitor, item)
    assert "The site did not answer." in page
    assert "Try again" in page
    assert visitor.post(f"/items/{item.pk}/do/retry").status_code == 302
    item.content.refresh_from_db()
    assert item.content.state != "failed"


def test_an_item_at_work_tells_its_progress_until_its_text_is_there(
    visitor: Client, add: Add
) -> None:
    item, asked = add("Granite"), {"HX-Request": "true", "HX-Target": "progress"}
    Content.objects.update(state="working", percent=40)
    assert "40 %" in read(visitor, item)
    part = visitor.get(f"/items/{item.pk}", headers=asked).content.decode()
    assert "40 %" in part
    assert "<html" not in part
    Content.objects.update(state="ready")
    assert visitor.get(f"/items/{item.pk}", headers=asked)["HX-Refresh"] == "true"


def test_somebody_elses_item_is_as_if_it_were_not_there(
    visitor: Client, stranger: User, mint: Mint, home: None
) -> None:
    hers = mint(by=stranger)
    item = upload(hers, pdf("Her secret page"), "hers.pdf", "application/pdf")
    missing = "00000000-0000-0000-0000-000000000000"
    for tail in ("", "/parts/1", "/original", "/media", "/pages/1"):
        answers = [visitor.get(f"/items/{pk}{tail}") for pk in (item.pk, missing)]
        assert [answer.status_code for answer in answers] == [404, 404]
        bodies = [answer.content.decode().replace(str(item.pk), missing) for answer in answers]
        assert _without_tokens(bodies[0]) == _without_tokens(bodies[1])
    for tail in ("/change", "/folders", "/do/delete", "/do/retry", "/do/summarize"):
        assert visitor.post(f"/items/{item.pk}{tail}", {"title": "Mine"}).status_code == 404
    item.refresh_from_db()
    assert item.title != "Mine"


def _without_tokens(page: str) -> str:
    page = re.sub(r'"X-CSRFToken": "[^"]+"', "", page)
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", page)


# Files ----------------------------------------------------------------------------------------


def test_a_pdf_shows_each_page_beside_its_text(visitor: Client, mint: Mint, home: None) -> None:
    item = upload(mint(), pdf("First page", "Second page"), 'a "b" <i>.pdf', "application/pdf")
    run_jobs()
    page = read(visitor, item)
    assert 'id="page=2"' in page
    picture = visitor.get(f"/items/{item.pk}/pages/2")
    assert picture["Content-Type"] == "image/webp"
    assert picture.content[:4] == b"RIFF"
    assert visitor.get(f"/items/{item.pk}/pages/3").status_code == 404
    assert visitor.get(f"/items/{item.pk}/media").status_code == 404


def test_an_original_is_a_download_that_cannot_run(visitor: Client, mint: Mint, home: None) -> None:
    name = '"><script>alert(1)</script>.html'
    hostile = b"<!doctype html><html><title>Page</title><body><script>alert(1)</script>" + (
        b"<p>A page with enough words in it to be read as the text of a page.</p>" * 5
    )
    item = upload(mint(), hostile, name, "text/html")
    answer = visitor.get(f"/items/{item.pk}/original")
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert visitor.get(f"/items/{item.pk}/media").status_code == 404
    assert "<script>alert" not in read(visitor, item)
