"""A recording's length is told by a few of its bytes, with ranges and without."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from knowledge.sources.remote_audio import HEAD, LONGEST_WHOLE, remote_length
from tests.support.recordings import tone, written

pytestmark = pytest.mark.xdist_group("recordings")

SECONDS = 120
NAMES = ("a.wav", "a.mp3", "a.m4a", "a.mp4", "a.flac", "a.ogg", "a.aac")
Serve = Callable[..., str]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("recordings")
    sound = tone(SECONDS)
    return {name: written(folder / name, sound).read_bytes() for name in NAMES}


@pytest.fixture
def sent(site: HTTPServer) -> list[int]:
    """How many bytes each answer had."""
    return []


@pytest.fixture
def serve(site: HTTPServer, sent: list[int]) -> Serve:
    def served(body: bytes, *, has_ranges: bool = True, is_announced: bool = True) -> str:
        def answer(request: Request) -> Response:
            if has_ranges:
                response = Response(body)
                response.make_conditional(
                    request.environ, accept_ranges=True, complete_length=len(body)
                )
            else:
                pieces = (body[at : at + 10_000] for at in range(0, len(body), 10_000))
                response = Response(body if is_announced else pieces)
            sent.append(response.content_length or len(body))
            return response

        site.expect_request("/talk").respond_with_handler(answer)
        return str(site.url_for("/talk"))

    return served


@pytest.mark.parametrize("name", NAMES)
def test_the_length_of_every_format_is_told_by_few_bytes(
    serve: Serve, sent: list[int], recordings: dict[str, bytes], name: str
) -> None:
    body = recordings[name]
    assert len(body) > HEAD or name == "a.flac"

    assert remote_length(serve(body)) == pytest.approx(SECONDS, rel=0.02)
    assert sum(sent) < 2 * HEAD


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_gives_no_ranges_is_read_as_far_as_it_must_be(
    serve: Serve, recordings: dict[str, bytes], name: str
) -> None:
    url = serve(recordings[name], has_ranges=False)
    assert remote_length(url) == pytest.approx(SECONDS, rel=0.02)


def test_an_index_behind_all_the_sound_is_found_by_its_place(
    serve: Serve, sent: list[int], recordings: dict[str, bytes]
) -> None:
    body = recordings["a.m4a"]
    assert body.index(b"moov") > HEAD
    assert remote_length(serve(body)) == pytest.approx(SECONDS, rel=0.01)


def test_a_picture_before_the_sound_is_passed_over(
    serve: Serve, sent: list[int], recordings: dict[str, bytes]
) -> None:
    length = 2_000_000
    tag = bytes((length >> shift) & 127 for shift in (21, 14, 7, 0))
    cover = b"APIC" + struct.pack(">I", length - 10) + bytes(2) + b"\x55" * (length - 10)
    sound = recordings["a.mp3"]
    sound = sound[sound.index(b"\xff") :]
    assert remote_length(serve(b"ID3\x03\0\0" + tag + cover + sound)) == pytest.approx(
        SECONDS, rel=0.02
    )
    assert sum(sent) < 2 * HEAD


def test_without_a_size_or_an_end_nothing_is_guessed(
    serve: Serve, recordings: dict[str, bytes]
) -> None:
    url = serve(recordings["a.wav"], has_ranges=False, is_announced=False)
    assert remote_length(url) is None


def test_a_short_recording_needs_no_size(serve: Serve, tmp_path: Path) -> None:
    body = written(tmp_path / "a.mp3", tone(20)).read_bytes()
    assert remote_length(serve(body, has_ranges=False, is_announced=False)) == pytest.approx(
        20, abs=0.5
    )


def test_too_much_is_not_read_for_an_index_at_the_end(
    serve: Serve, recordings: dict[str, bytes]
) -> None:
    body = recordings["a.m4a"]
    start = body.index(b"mdat") - 4
    padding = struct.pack(">I", LONGEST_WHOLE) + b"free" + bytes(LONGEST_WHOLE - 8)
    assert remote_length(serve(body[:start] + padding + body[start:], has_ranges=False)) is None


HOSTILE = {
    "text": b"This is no recording. " * 1_000,
    "a box without an end": b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42\0\0\0\1mdat" + b"\xff" * 8,
    "boxes without a length": (b"\0\0\0\x08free" * 100_000).replace(b"free", b"ftyp", 1),
    "a tag longer than the file": b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + bytes(1_000),
    "one page of ogg": b"OggS" + bytes(100),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("has_ranges", [True, False])
def test_what_is_broken_has_no_length(serve: Serve, name: str, has_ranges: bool) -> None:
    assert remote_length(serve(HOSTILE[name], has_ranges=has_ranges)) is None


def test_an_address_that_refuses_has_no_length(site: HTTPServer) -> None:
    site.expect_request("/talk").respond_with_data("no", status=403)
    assert remote_length(site.url_for("/talk")) is None
