"""Links: what each kind of address becomes, and under which key."""

import io
import wave
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from knowledge.errors import IngestFailed, QuarryError, UnsupportedMedia
from knowledge.sources import canonical, links
from knowledge.sources.extracted import Extracted, Recording
from knowledge.sources.links import fetch_media, open_link
from tests.support.files import docx, pdf
from tests.support.pages import ARTICLE, LOGIN, serve_page

MP3 = b"ID3\x04\x00\x00\x00\x00\x00\x00" + b"\xff\xfb\x90\x00" * 5_000
M4A = b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2mp41" + b"\x00" * 100


def wav() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\x00\x00" * 8000)
    return file.getvalue()


@pytest.fixture
def site(httpserver: HTTPServer, settings) -> HTTPServer:
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{httpserver.host}:{httpserver.port}"]
    return httpserver


def serve(site: HTTPServer, path: str, body: bytes, media_type: str, **headers: str) -> str:
    site.expect_request(path).respond_with_data(body, content_type=media_type, headers=headers)
    return str(site.url_for(path))


def paths(site: HTTPServer) -> list[str]:
    return [request.path for request, _ in site.log]


def test_a_page_is_fetched_once_and_known_by_the_address_that_answered(site: HTTPServer) -> None:
    serve_page(site, "/rivers", ARTICLE)
    moved = {"Location": "/rivers?utm_source=x#top"}
    site.expect_request("/short").respond_with_data("", status=302, headers=moved)
    fetched = open_link(site.url_for("/short"))
    assert fetched.kind == "webpage"
    assert isinstance(fetched.found, Extracted)
    assert fetched.found.title == "How rivers carve stone"
    assert fetched.key == canonical.key(site.url_for("/rivers"))
    assert paths(site) == ["/short", "/rivers"]


def test_an_address_that_a_page_claims_is_never_its_key(site: HTTPServer) -> None:
    url = serve_page(site, "/hostile", ARTICLE)
    assert "https://victim.example/other" in ARTICLE
    assert open_link(url).key == canonical.key(url)


@pytest.mark.parametrize(
    ("path", "body", "media_type", "kind"),
    [
        ("/a.mp3", MP3, "audio/mpeg", "audio"),
        ("/a", MP3, "application/octet-stream", "audio"),
        ("/a.wav", wav(), "text/html", "audio"),
        ("/a.m4a", M4A, "application/octet-stream", "audio"),
        ("/a", M4A, "audio/x-m4a", "audio"),
        ("/a.mp4", M4A, "video/mp4", "video"),
    ],
)
def test_a_recording_is_known_by_its_first_bytes_and_left_where_it_is(
    site: HTTPServer, path: str, body: bytes, media_type: str, kind: str
) -> None:
    url = serve(site, path, body, media_type)
    fetched = open_link(url)
    assert fetched.kind == kind
    length = 1.0 if path == "/a.wav" else None  # the others' bytes are no sound
    assert fetched.found == Recording(media_url=url, title="a", duration_sec=length)
    assert fetched.key == canonical.key(url)


def test_only_the_beginning_of_a_recording_is_read(site: HTTPServer, monkeypatch) -> None:
    monkeypatch.setattr(links, "LONGEST_FILE", 10_000)
    monkeypatch.setattr(links, "LONGEST_PAGE", 10_000)
    assert open_link(serve(site, "/a.mp3", MP3, "audio/mpeg")).kind == "audio"


def test_a_recording_behind_a_signed_address_is_known_by_the_lasting_one(site: HTTPServer) -> None:
    serve(site, "/storage", MP3, "audio/mpeg")
    signed = {"Location": "/storage?Expires=9&Signature=abc"}
    site.expect_request("/a.mp3").respond_with_data("", status=302, headers=signed)
    asked = site.url_for("/a.mp3")
    fetched = open_link(asked)
    assert fetched.key == canonical.key(asked)
    assert fetched.found == Recording(media_url=asked, title="a")


def test_what_only_has_the_name_of_a_recording_is_what_its_bytes_are(site: HTTPServer) -> None:
    url = serve_page(site, "/a.mp3", ARTICLE)
    assert open_link(url).kind == "webpage"


def test_a_link_to_a_pdf_is_a_pdf_with_its_pages_and_its_bytes(site: HTTPServer) -> None:
    file = pdf("Granite is cut with diamonds.")
    fetched = open_link(serve(site, "/paper", file, "text/html"))
    assert fetched.kind == "pdf"
    assert isinstance(fetched.found, Extracted)
    assert "Granite is cut with diamonds." in fetched.found.text
    assert fetched.found.parts[0].page == 1
    assert fetched.found.title


def test_a_link_to_an_office_file_is_that(site: HTTPServer) -> None:
    file = docx("<w:p><w:r><w:t>Granite is cut with diamonds.</w:t></w:r></w:p>")
    fetched = open_link(serve(site, "/paper.docx", file, "application/octet-stream"))
    assert fetched.kind == "office"
    assert "Granite is cut" in fetched.found.text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("path", "body", "media_type", "kind", "text"),
    [
        ("/notes.txt", "Größe zählt.\n".encode(), "text/plain; charset=utf-8", "text", "Größe"),
        (
            "/notes",
            "Größe zählt.\n".encode("latin-1"),
            "text/plain; charset=latin-1",
            "text",
            "Größe",
        ),
        ("/README.md", b"# Stone\n\n- one\n- two\n", "text/plain", "markdown", "- one\n- two"),
        ("/readme", b"# Stone\n\n- one\n- two\n", "text/markdown", "markdown", "# Stone"),
    ],
)
def test_text_and_markdown_are_taken_as_they_are(
    site: HTTPServer, path: str, body: bytes, media_type: str, kind: str, text: str
) -> None:
    fetched = open_link(serve(site, path, body, media_type))
    assert fetched.kind == kind
    assert text in fetched.found.text  # type: ignore[union-attr]
    assert fetched.found.title


def test_a_file_is_named_as_the_server_names_it(site: HTTPServer) -> None:
    named = 'attachment; filename="field notes.txt"'
    url = serve(site, "/download", b"Plain words.", "text/plain", **{"Content-Disposition": named})
    assert open_link(url).found.title == "field notes"


@pytest.mark.parametrize(
    ("body", "media_type", "error"),
    [
        (b"", "text/html", IngestFailed),
        (b"\x00\x01\x02\x03" * 10, "application/octet-stream", UnsupportedMedia),
        (LOGIN.encode(), "text/html", IngestFailed),
    ],
)
def test_what_cannot_be_read_is_refused(
    site: HTTPServer, body: bytes, media_type: str, error: type[QuarryError]
) -> None:
    url = serve(site, "/x", body, media_type)
    with pytest.raises(error):
        open_link(url)


@pytest.mark.parametrize(
    ("status", "reason"), [(403, "blocked"), (404, "gone"), (500, "server_error")]
)
def test_a_server_that_refuses_is_quoted(site: HTTPServer, status: int, reason: str) -> None:
    site.expect_request("/x").respond_with_data("no", status=status)
    with pytest.raises(IngestFailed) as refused:
        open_link(site.url_for("/x"))
    assert refused.value.details["reason"] == reason


def test_a_page_larger_than_is_read_is_refused(site: HTTPServer, monkeypatch) -> None:
    monkeypatch.setattr(links, "LONGEST_PAGE", 100)
    url = serve(site, "/x", ARTICLE.encode() * 9, "text/html")
    with pytest.raises(IngestFailed) as refused:
        open_link(url)
    assert refused.value.details["reason"] == "too_large"


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://localhost/", "file:///etc/passwd", "youtube", "http://a b/"]
)
def test_an_address_that_leads_inside_or_nowhere_is_refused(url: str) -> None:
    with pytest.raises(IngestFailed) as refused:
        open_link(url)
    assert refused.value.details["reason"] in ("refused_address", "bad_url")


def test_a_caches_own_words_never_stand_for_the_publishers(site: HTTPServer, monkeypatch) -> None:
    monkeypatch.setattr(canonical, "unwrap_amp", lambda url: url.replace("/cached", "/rivers"))
    serve_page(site, "/rivers", ARTICLE)
    serve_page(site, "/cached", LOGIN)
    site.expect_request("/short").respond_with_data("", status=302, headers={"Location": "/cached"})
    for path in ("/cached", "/short"):
        fetched = open_link(site.url_for(path))
        assert fetched.found.title == "How rivers carve stone"
        assert fetched.key == canonical.key(site.url_for("/rivers"))
    assert paths(site) == ["/rivers", "/short", "/cached", "/rivers"]


def test_a_recording_is_saved_to_a_file(site: HTTPServer, tmp_path: Path) -> None:
    url = serve(site, "/a.mp3", MP3, "audio/mpeg")
    fetch_media("podcast", url, tmp_path / "media", max_bytes=1_000_000, seconds=20)
    assert (tmp_path / "media").read_bytes() == MP3


def test_a_recording_that_is_too_large_leaves_no_file(site: HTTPServer, tmp_path: Path) -> None:
    url = serve(site, "/a.mp3", MP3, "audio/mpeg")
    with pytest.raises(IngestFailed) as refused:
        fetch_media("audio", url, tmp_path / "media", max_bytes=1_000, seconds=20)
    assert refused.value.details["reason"] == "too_large"
    assert not (tmp_path / "media").exists()
