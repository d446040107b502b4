"""YouTube, spoken by a local server in the shapes that the real one uses."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from yt_dlp.extractor.generic import GenericIE
from yt_dlp.networking import Request

from knowledge.errors import IngestFailed
from knowledge.sources import youtube, youtube_audio
from knowledge.sources.extracted import Extracted, Recording
from knowledge.sources.links import fetch_media, open_link

VIDEO = "dQw4w9WgXcQ"
URL = f"https://youtu.be/{VIDEO}?si=abc"
WATCH = '<html><script>{"INNERTUBE_API_KEY": "key-1_a"}</script></html>'
DETAILS = {"title": "How rivers carve", "author": "Ada", "lengthSeconds": "125", "isLive": False}
TIMED = """<?xml version="1.0" encoding="utf-8"?><transcript>
<text start="0.5" dur="4">Rivers carve &amp;amp; cut</text>
<text start="2.5" dur="2">stone with
pebbles.</text><text start="9" dur="1"> </text></transcript>"""


@pytest.fixture
def site(httpserver: HTTPServer, settings, monkeypatch) -> HTTPServer:
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{httpserver.host}:{httpserver.port}"]
    base = httpserver.url_for("")
    inside = "youtube_transcript_api._transcripts"
    monkeypatch.setattr(f"{inside}.WATCH_URL", base + "/watch?v={video_id}")
    monkeypatch.setattr(f"{inside}.INNERTUBE_API_URL", base + "/player?key={api_key}")
    monkeypatch.setattr(youtube, "OEMBED_URL", base + "/oembed")
    httpserver.expect_request("/watch").respond_with_data(WATCH, content_type="text/html")
    return httpserver


def track(
    site: HTTPServer, language: str, *, kind: str = "", path: str = "/timed"
) -> dict[str, Any]:
    name = {"runs": [{"text": language}]}
    url = site.url_for(f"{path}?lang={language}&kind={kind}")
    return {"baseUrl": url, "name": name, "languageCode": language, "kind": kind}


def play(site: HTTPServer, *tracks: dict[str, Any], **told: Any) -> None:
    captions = {"playerCaptionsTracklistRenderer": {"captionTracks": list(tracks)}}
    answer = {
        "playabilityStatus": {"status": "OK"},
        "videoDetails": DETAILS,
        **({"captions": captions} if tracks else {}),
        **told,
    }
    site.expect_request("/player", method="POST").respond_with_json(answer)


def test_captions_become_the_text_with_its_seconds(site: HTTPServer) -> None:
    play(site, track(site, "en"))
    site.expect_request("/timed").respond_with_data(TIMED, content_type="text/xml")
    fetched = open_link(URL)
    assert (fetched.kind, fetched.key, fetched.rung) == ("youtube", f"youtube:{VIDEO}", "captions")
    found = fetched.found
    assert isinstance(found, Extracted)
    assert found.text == "Rivers carve & cut stone with pebbles."
    assert [(part.start_sec, part.end_sec) for part in found.parts] == [(0.5, 2.5), (2.5, 4.5)]
    assert (found.title, found.author) == ("How rivers carve", "Ada")
    assert (found.duration_sec, found.language) == (125, "en")


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        ([("en", "asr"), ("de", "")], "lang=de&kind="),
        ([("fr", ""), ("en-GB", ""), ("de", "")], "lang=en-GB&kind="),
        ([("en", ""), ("de", ""), ("de", "asr")], "lang=de&kind="),
        ([("ja", "asr")], "lang=ja&kind=asr"),
    ],
)
def test_captions_by_hand_in_the_language_spoken_come_first(
    site: HTTPServer, offered: list[tuple[str, str]], taken: str
) -> None:
    play(site, *(track(site, language, kind=kind) for language, kind in offered))
    site.expect_request("/timed").respond_with_data(TIMED)
    open_link(URL)
    assert site.log[-1][0].query_string.decode() == taken


def test_a_video_without_captions_is_a_recording(site: HTTPServer) -> None:
    play(site)
    fetched = open_link(URL)
    assert fetched.rung == ""
    assert fetched.found == Recording(
        media_url=f"https://www.youtube.com/watch?v={VIDEO}",
        title="How rivers carve",
        author="Ada",
        duration_sec=125,
    )


def test_what_the_player_does_not_tell_is_asked_of_oembed(site: HTTPServer) -> None:
    play(site, videoDetails=None)
    site.expect_request("/oembed").respond_with_json({"title": "Rivers", "author_name": "Bob"})
    found = open_link(URL).found
    assert (found.title, found.author, found.duration_sec) == ("Rivers", "Bob", None)


@pytest.mark.parametrize(
    ("status", "told", "reason"),
    [
        ("LOGIN_REQUIRED", "Sign in to confirm you’re not a bot", "blocked"),
        ("LOGIN_REQUIRED", "Sign in to confirm you're not a bot", "blocked"),
        ("LOGIN_REQUIRED", "This video may be inappropriate for some users.", "age_restricted"),
        ("LOGIN_REQUIRED", "Sign in to confirm your age", "age_restricted"),
        ("LOGIN_REQUIRED", "This video is private", "private"),
        ("ERROR", "This video is unavailable", "unavailable"),
        ("ERROR", "Video removed by the uploader", "unavailable"),
        ("UNPLAYABLE", "Join this channel to get access to members-only content", "members_only"),
        ("LIVE_STREAM_OFFLINE", "This live event will begin in 2 hours.", "not_yet"),
        ("ERROR", "", "unavailable"),
    ],
)
def test_a_video_that_is_not_shown_says_why(
    site: HTTPServer, status: str, told: str, reason: str
) -> None:
    play(site, playabilityStatus={"status": status, "reason": told})
    with pytest.raises(IngestFailed) as refused:
        open_link(URL)
    assert refused.value.details["reason"] == reason


def test_a_stream_that_still_runs_is_refused_for_now(site: HTTPServer) -> None:
    play(site, videoDetails={**DETAILS, "isLive": True})
    with pytest.raises(IngestFailed) as refused:
        open_link(URL)
    assert refused.value.details == {"reason": "not_yet", "may_pass": True}


def test_a_blocked_address_is_told_of_the_proxy_and_of_the_upload(site: HTTPServer) -> None:
    site.clear()
    site.expect_request("/watch").respond_with_data("slow down", status=429)
    with pytest.raises(IngestFailed) as refused:
        open_link(URL)
    assert refused.value.details["reason"] == "blocked"
    assert "QUARRY_YOUTUBE_PROXY" in refused.value.message
    assert "POST /api/v1/uploads/signed-url" in refused.value.message


@pytest.mark.parametrize(
    "page", ['<form class="g-recaptcha"></form>', "", "<html>something else</html>"]
)
def test_a_page_that_is_no_players_counts_as_blocked(site: HTTPServer, page: str) -> None:
    site.clear()
    site.expect_request("/watch").respond_with_data(page)
    with pytest.raises(IngestFailed) as refused:
        open_link(URL)
    assert refused.value.details["reason"] == "blocked"


@pytest.mark.parametrize("captions", ["", "<html>", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'])
def test_captions_that_cannot_be_read_count_as_blocked(site: HTTPServer, captions: str) -> None:
    play(site, track(site, "en"))
    site.expect_request("/timed").respond_with_data(captions)
    with pytest.raises(IngestFailed) as refused:
        open_link(URL)
    assert refused.value.details["reason"] == "blocked"


def test_a_fault_of_youtubes_may_pass(site: HTTPServer) -> None:
    site.clear()
    site.expect_request("/watch").respond_with_data("oops", status=503)
    with pytest.raises(IngestFailed) as refused:
        open_link(URL)
    assert refused.value.details == {"reason": "server_error", "may_pass": True}


def test_captions_are_never_fetched_from_an_inner_address(site: HTTPServer, settings) -> None:
    play(site, {**track(site, "en"), "baseUrl": "http://169.254.169.254/latest/meta-data"})
    with pytest.raises(IngestFailed) as refused:
        open_link(URL)
    assert refused.value.details["reason"] == "refused_address"


def test_a_page_of_youtubes_that_is_no_video_is_refused() -> None:
    with pytest.raises(IngestFailed) as refused:
        open_link("https://www.youtube.com/@channel")
    assert refused.value.details["reason"] == "not_extractable"


SOUND = b"ID3\x04\x00\x00\x00\x00\x00\x00" + b"\xff\xfb\x90\x00" * 50_000


@pytest.fixture
def media(httpserver: HTTPServer, settings, monkeypatch) -> HTTPServer:
    """A place with a sound, and yt-dlp with the extractor that takes any address."""
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{httpserver.host}:{httpserver.port}"]
    monkeypatch.setattr(youtube_audio, "EXTRACTORS", (GenericIE,))
    httpserver.expect_request("/a.mp3").respond_with_data(SOUND, content_type="audio/mpeg")
    httpserver.expect_request("/moved").respond_with_data(
        "", status=302, headers={"Location": "/a.mp3"}
    )
    httpserver.expect_request("/inner").respond_with_data(
        "", status=302, headers={"Location": "http://10.0.0.1/a.mp3"}
    )
    httpserver.expect_request("/denied").respond_with_data("no", status=429)
    httpserver.expect_request("/none").respond_with_data("<html>none</html>")
    return httpserver


@pytest.mark.parametrize("path", ["/a.mp3", "/moved"])
def test_the_sound_of_a_video_is_saved_whole(media: HTTPServer, tmp_path: Path, path: str) -> None:
    to = tmp_path / "work" / "media.coming"
    fetch_media("youtube", media.url_for(path), to, max_bytes=10_000_000, seconds=60)
    assert to.read_bytes() == SOUND
    assert [file.name for file in to.parent.iterdir()] == ["media.coming"]


@pytest.mark.parametrize(
    ("path", "max_bytes", "reason"),
    [
        ("/inner", 10_000_000, "refused_address"),
        ("/a.mp3", 100_000, "too_large"),
        ("/denied", 10_000_000, "blocked"),
        ("/none", 10_000_000, "not_extractable"),
    ],
)
def test_a_download_that_fails_says_why_and_leaves_nothing(
    media: HTTPServer, tmp_path: Path, path: str, max_bytes: int, reason: str
) -> None:
    with pytest.raises(IngestFailed) as refused:
        fetch_media("youtube", media.url_for(path), tmp_path / "a", max_bytes=max_bytes, seconds=60)
    assert refused.value.details["reason"] == reason
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://localhost/a.mp3", "refused_address"),
        ("http://169.254.169.254/a.mp3", "refused_address"),
        ("http://[::ffff:10.0.0.1]/a.mp3", "refused_address"),
    ],
)
def test_nothing_is_asked_but_through_the_guard(
    media: HTTPServer, tmp_path: Path, url: str, reason: str
) -> None:
    with pytest.raises(IngestFailed) as refused:
        fetch_media("youtube", url, tmp_path / "a", max_bytes=10_000_000, seconds=60)
    assert refused.value.details["reason"] == reason


def test_only_our_handler_and_our_extractor_are_in_use(tmp_path: Path) -> None:
    budget = youtube_audio.Budget(max_bytes=1, seconds=1)
    with youtube_audio.downloader(tmp_path, budget) as downloader:
        assert list(downloader._request_director.handlers) == ["Guarded"]
        assert list(downloader._ies) == ["Youtube"]
        assert downloader.params["js_runtimes"] == {}


def test_cookies_go_back_to_where_they_came_from(tmp_path: Path, media: HTTPServer) -> None:
    media.expect_request("/sets").respond_with_data("x", headers={"Set-Cookie": "a=1; Path=/"})
    budget = youtube_audio.Budget(max_bytes=1000, seconds=9)
    with youtube_audio.downloader(tmp_path, budget) as downloader:
        downloader.urlopen(media.url_for("/sets")).close()
        assert downloader.urlopen(media.url_for("/sets")).read() == b"x"
    assert media.log[-1][0].headers["Cookie"] == "a=1"


def test_a_post_carries_its_body(tmp_path: Path, media: HTTPServer) -> None:
    media.expect_request("/echo", method="POST", json={"a": 1}).respond_with_json({"b": 2})
    request = Request(
        media.url_for("/echo"),
        data=json.dumps({"a": 1}).encode(),
        headers={"Content-Type": "application/json"},
    )
    budget = youtube_audio.Budget(max_bytes=1000, seconds=9)
    with youtube_audio.downloader(tmp_path, budget) as downloader:
        assert json.loads(downloader.urlopen(request).read()) == {"b": 2}
