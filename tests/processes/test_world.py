"""The whole product with no key: whatever a site serves or a person sends is found, with its place.

And whatever is made to harm fails alone.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest
from pytest_httpserver import HTTPServer

from tests.support import files as made
from tests.support.files import DOCX
from tests.support.hostile_files import BODY, END, png, swollen
from tests.support.pages import ARTICLE, serve_page
from tests.support.pictures import LINES, picture
from tests.support.podcasts import FEED, item, transcript
from tests.support.up import copied_home
from tests.support.waiting import DEADLINE
from tests.support.world import BEGINS_SEC, SAID, WAV, Product, World

PDF, PNG = "application/pdf", "image/png"
PAGES = ("The first page is about chalk.", "Feldspar stands on the second.", "The end.")
EPISODE = [
    ("00:01.000", "Welcome to a talk about stone and those who cut it."),
    ("01:23.500", "The obsidian blade is sharper than any steel that we make."),
    ("02:50.000", "Thank you for listening, and until next week."),
]
VTT = "WEBVTT\n\n" + "".join(
    f"{start} --> {start[:3]}59.000\n{words * 3}\n\n" for start, words in EPISODE
)


# What a link leads to --------------------------------------------------------------------


def test_an_article_is_found_by_the_span_of_its_words(world: World) -> None:
    url = serve_page(world.site, "/rivers", ARTICLE)
    hit = world.added_and_found(url, "rates of limestone and granite")
    assert (hit.title, hit.url) == ("How rivers carve stone", url)
    assert "Limestone" in hit.passage
    assert hit.passage.strip("…") in hit.span_text


def test_a_link_to_a_pdf_is_found_by_its_page(world: World) -> None:
    url = world.serve("/minerals.pdf", made.pdf(*PAGES), PDF)
    hit = world.added_and_found(url, "feldspar")
    assert (hit.page, hit.url) == (2, f"{url}#page=2")


def test_an_episode_with_a_transcript_is_found_by_its_second(world: World) -> None:
    world.serve("/t.vtt", VTT.encode(), "text/vtt")
    offered = item("blade", more=transcript("/t.vtt", "text/vtt"))
    url = world.serve("/stone.xml", FEED.format(items=offered).encode(), "application/rss+xml")
    hit = world.added_and_found(url, "obsidian blade")
    assert hit.start_sec == pytest.approx(83.5, abs=1.5)
    assert hit.url == world.site.url_for("/blade.mp3#t=83")
    assert hit.item["transcript_by"] == "publisher"


def test_an_episode_without_a_transcript_is_heard_and_found_by_its_second(world: World) -> None:
    sound = world.serve("/speech.mp3", world.recorded("speech.mp3", after=4), "audio/mpeg")
    feed = FEED.format(items=item("speech")).encode()
    url = world.serve("/speeches.xml", feed, "application/rss+xml")
    world.assert_heard(world.added_and_found(url, SAID), after=4, link=sound)


@pytest.mark.parametrize(("name", "after"), [("talk.mp3", 12), ("talk.wav", 31)])
def test_a_recording_is_heard_and_found_by_its_second(world: World, name: str, after: int) -> None:
    url = world.serve(f"/{name}", world.recorded(name, after=after), "audio/mpeg")
    world.assert_heard(world.added_and_found(url, SAID), after=after, link=url)


# What a person sends ---------------------------------------------------------------------


def test_a_sent_pdf_is_found_by_its_page(world: World) -> None:
    hit = world.sent_and_found("pages.pdf", PDF, made.pdf(*PAGES), "feldspar")
    assert (hit.page, hit.url.endswith("#page=2")) == (2, True)


def test_a_sent_document_is_found_by_the_span_of_its_words(world: World) -> None:
    paragraphs = [f"Paragraph {number} is about marble." for number in range(30)]
    body = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in paragraphs)
    body += "<w:p><w:r><w:t>The serpentine gleams when it is wet.</w:t></w:r></w:p>"
    hit = world.sent_and_found("stones.docx", DOCX, made.docx(body), "serpentine gleams")
    assert "The serpentine gleams when it is wet." in hit.passage
    assert hit.passage.strip("…") in hit.span_text


def test_a_sent_recording_is_heard_and_found_by_its_second(world: World) -> None:
    hit = world.sent_and_found("memo.wav", WAV, world.recorded("memo.wav", after=7), SAID)
    assert hit.start_sec == pytest.approx(7 + BEGINS_SEC, abs=1.5)
    assert hit.url.endswith(f"#t={int(hit.start_sec)}")


@pytest.mark.skipif(not find_spec("rapidocr"), reason="needs the extra quarry[ocr]")
def test_a_sent_picture_is_read_and_found(world: World) -> None:
    drawn = BytesIO()
    picture(*LINES).save(drawn, "PNG")
    hit = world.sent_and_found("sign.png", PNG, drawn.getvalue(), "limestone cut by hand")
    assert "limestone is cut by hand since 1871" in hit.passage


# What is made to harm --------------------------------------------------------------------


class Hostile(NamedTuple):
    name: str
    media_type: str
    made: Callable[[], bytes]
    outcome: str
    """The reason of the item that fails, or why the file never becomes one."""


def bomb() -> bytes:
    return swollen("word/bomb.xml", BODY, b" " * 1_000_000, 300, END)


def endless_pdf() -> bytes:
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    kids = " ".join(f"{number} 0 R" for number in range(3, 100_003))
    tree = f"<< /Type /Pages /Count 100000 /Kids [{kids}] >>"
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", tree, *[page] * 100_000]
    return made.assembled(objects, trailer="")


def locked_pdf() -> bytes:
    secret = (
        "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 "
        f"/O <{'41' * 32}> /U <{'42' * 32}> >> /ID [<{'43' * 16}> <{'43' * 16}>]"
    )
    return made.pdf("The stone is cut.", extra=secret)


HOSTILE = [
    Hostile("bomb.docx", DOCX, bomb, "inflates_too_much"),
    Hostile("endless.pdf", PDF, endless_pdf, "too_many_pages"),
    Hostile("broken.pdf", PDF, lambda: made.pdf(*PAGES)[:200] + b"\xde\xad" * 99, "broken_file"),
    Hostile("locked.pdf", PDF, locked_pdf, "encrypted"),
    Hostile("huge.png", PNG, lambda: png(30_000, 30_000, rows=30_000), "too_large_image"),
    Hostile("empty.pdf", PDF, bytes, "invalid_body"),
    Hostile("wrong.pdf", PDF, lambda: b"MZ\x90\x00\x03" + bytes(500), "unsupported_media"),
    Hostile("cut.wav", WAV, lambda: b"RIFF\x24\xff\x00\x00WAVEfmt ", "broken_audio"),
]
SECONDS = 20
"""On a slow and busy machine; most take less than two."""
GROWTH_KB = 150_000


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_files_made_to_harm_fail_alone_in_seconds_and_in_bounded_memory(world: World) -> None:
    # What a first item makes it load is not the doing of the files.
    world.sent_and_found("first.txt", "text/plain", b"A beryl was there before them.", "beryl")
    worker, web = world.quarry.worker_pid(), world.quarry.process.pid
    before = {pid: memory(pid, "VmRSS", forget_peak=True) for pid in (worker, web)}
    for hostile in HOSTILE:
        content = hostile.made()
        began = time.monotonic()
        assert world.outcome(hostile.name, hostile.media_type, content) == hostile.outcome
        assert time.monotonic() - began < SECONDS, hostile.name
    good = world.sent_and_found("good.txt", "text/plain", b"A zircon outlives them all.", "zircon")
    assert good.passage == "A zircon outlives them all."
    assert world.quarry.worker_pid() == worker
    grown = {pid: memory(pid, "VmHWM") - rss for pid, rss in before.items()}
    assert max(grown.values()) < GROWTH_KB, grown
    assert world.quarry.process.poll() is None


def memory(pid: int, name: str, *, forget_peak: bool = False) -> int:
    """In kilobytes."""
    if forget_peak:
        with suppress(PermissionError):
            Path(f"/proc/{pid}/clear_refs").write_text("5")
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(name)]
    return int(line.split()[1])


# Means -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world(migrated_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with copied_home(migrated_home) as home, HTTPServer(threaded=True) as site:
        quarry = Product(home, may_fetch=f"{site.host}:{site.port}")
        try:
            quarry.wait_for("Ctrl-C stops everything.")
            yield World(quarry, site, tmp_path_factory.mktemp("world"))
        finally:
            quarry.process.terminate()
            quarry.process.wait(DEADLINE)
