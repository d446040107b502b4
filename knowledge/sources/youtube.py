"""YouTube: captions where there are any, and else the recording with what is told about it."""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlencode

import requests
from django.conf import settings
from youtube_transcript_api import (
    AgeRestricted,
    CouldNotRetrieveTranscript,
    FetchedTranscript,
    NoTranscriptFound,
    Transcript,
    TranscriptsDisabled,
    VideoUnavailable,
    VideoUnplayable,
    YouTubeRequestFailed,
    YouTubeTranscriptApi,
)

from knowledge.errors import IngestFailed
from knowledge.sources import http
from knowledge.sources.extracted import Extracted, FetchedLink, Recording, Segment, join_segments
from knowledge.sources.guarded_session import guarded_session
from knowledge.sources.webpage import as_moment

WATCH_URL = "https://www.youtube.com/watch?v={video_id}"
OEMBED_URL = "https://www.youtube.com/oembed"

_INSTEAD = "upload its transcript as an .srt, .vtt or .txt file (POST /api/v1/uploads/signed-url)"
# What YouTube says, in English, for that is asked for; first that fits.
_REASONS = (
    ("blocked", r"not a bot|unusual traffic|HTTP Error (?:403|429)|Too Many Requests|captcha"),
    ("private", r"private"),
    ("age_restricted", r"confirm your age|age.restricted|inappropriate for some users"),
    ("members_only", r"members|join this channel|requires payment|purchase|premium"),
    ("not_yet", r"live event will begin|premieres? in|is offline|upcoming"),
    ("unavailable", r"unavailable|removed|not available|does not exist|terminated|deleted"),
)
_MESSAGES = {
    "blocked": "YouTube does not answer this server's address; set QUARRY_YOUTUBE_PROXY to a proxy "
    f"that it does answer, or {_INSTEAD}.",
    "private": f"The video is private; ask its owner to share it, or {_INSTEAD}.",
    "age_restricted": f"The video is shown to signed-in adults only; {_INSTEAD}.",
    "members_only": f"The video is shown to paying members only; {_INSTEAD}.",
    "not_yet": "The video has not been shown yet; add it when it has ended.",
    "unavailable": "There is no such video, or it is not shown here; check the address.",
    "not_extractable": f"The sound of this video cannot be had; {_INSTEAD}.",
}


def open_video(video_id: str) -> FetchedLink:
    """The video's captions, or its recording when it has none."""
    seen = _Player()
    try:
        captions = _captions(video_id, seen)
    except CouldNotRetrieveTranscript as failure:
        _refuse(failure)
    if seen.is_live:
        raise _refusal("not_yet")
    about = seen.about or _fetch_oembed(video_id)
    key = f"youtube:{video_id}"
    url = WATCH_URL.format(video_id=video_id)
    if captions is None:
        return FetchedLink(
            kind="youtube", key=key, url=url, found=Recording(media_url=url, **about)
        )
    segments, language = captions
    text, parts = join_segments(segments)
    found = Extracted(text=text, parts=parts, language=language, **about)
    return FetchedLink(kind="youtube", key=key, url=url, rung="captions", found=found)


def download_audio(url: str, to: Path, *, max_bytes: int, seconds: float) -> None:
    """The video's sound in a file; a failure leaves no file behind."""
    from knowledge.sources.youtube_audio import SaveFailed, save_audio  # takes a second to load

    try:
        save_audio(url, to, max_bytes=max_bytes, seconds=seconds)
    except SaveFailed as failure:
        raise _refusal(_reason(str(failure)) or "not_extractable") from None


class _Player:
    """What the player's answer tells about a video, overheard while captions are asked for."""

    def __init__(self) -> None:
        self.about: dict[str, Any] = {}
        self.is_live = False

    def overhear(self, response: requests.Response, *_: Any, **__: Any) -> None:
        if response.request.method != "POST" or not response.ok:
            return
        try:
            told = response.json()
        except ValueError:
            return
        details = told.get("videoDetails") if isinstance(told, dict) else None
        if isinstance(details, dict):
            self.about = _about(details, told)
            self.is_live = bool(details.get("isLive") or details.get("isUpcoming"))


def _about(details: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    seconds = str(details.get("lengthSeconds") or "")
    return {
        "title": str(details.get("title") or ""),
        "author": str(details.get("author") or ""),
        "published_at": _publish_date(told),
        "duration_sec": float(seconds) if seconds.isdecimal() and seconds != "0" else None,
    }


def _publish_date(told: dict[str, Any]) -> datetime | None:
    renderer = (told.get("microformat") or {}).get("playerMicroformatRenderer") or {}
    return as_moment(str(renderer.get("publishDate") or ""))


def _fetch_oembed(video_id: str) -> dict[str, Any]:
    """Title and author by oEmbed; a video that does without has neither."""
    asked = urlencode({"url": WATCH_URL.format(video_id=video_id), "format": "json"})
    try:
        answer = http.fetch(f"{OEMBED_URL}?{asked}", proxy=settings.QUARRY_YOUTUBE_PROXY)
        told = json.loads(answer.body)
        return {"title": str(told["title"]), "author": str(told["author_name"])}
    except (IngestFailed, ValueError, KeyError, TypeError):
        return {}


def _captions(video_id: str, seen: _Player) -> tuple[list[Segment], str] | None:
    """The utterances and their language; None when nobody has written them down."""
    session = guarded_session(proxy=settings.QUARRY_YOUTUBE_PROXY)
    session.hooks["response"].append(seen.overhear)
    try:
        fetched = _best(YouTubeTranscriptApi(http_client=session).list(video_id)).fetch()
    except (TranscriptsDisabled, NoTranscriptFound):
        return None
    except (IngestFailed, CouldNotRetrieveTranscript):
        raise
    except (requests.RequestException, SyntaxError, ValueError, KeyError, TypeError, IndexError):
        # An empty or a foreign answer is how YouTube turns away what it takes for a machine.
        raise _refusal("blocked") from None
    segments = _segments(fetched)
    return (segments, fetched.language_code.split("-")[0]) if segments else None


def _best(offered: Iterable[Transcript]) -> Transcript:
    """By hand before by machine; then in the language spoken, in English, in any."""
    tracks = list(offered)
    spoken_in = {_primary(track) for track in tracks if track.is_generated}
    return min(
        tracks,
        key=lambda track: (
            track.is_generated,
            _primary(track) not in spoken_in,
            _primary(track) != "en",
        ),
    )


def _primary(track: Transcript) -> str:
    return track.language_code.split("-")[0]


def _segments(fetched: FetchedTranscript) -> list[Segment]:
    """Each until the next begins: captions stay on the screen while others come."""
    shown = [snippet for snippet in fetched if snippet.text.strip()]
    following = [snippet.start for snippet in shown[1:]] + [float("inf")]
    return [
        Segment(
            start_sec=snippet.start,
            end_sec=max(snippet.start, min(snippet.start + snippet.duration, until)),
            text=" ".join(snippet.text.split()),
        )
        for snippet, until in zip(shown, following, strict=True)
    ]


def _refuse(failure: CouldNotRetrieveTranscript) -> NoReturn:
    if isinstance(failure, AgeRestricted):
        raise _refusal("age_restricted") from None
    if isinstance(failure, VideoUnavailable):
        raise _refusal("unavailable") from None
    if isinstance(failure, VideoUnplayable):
        raise _refusal(_reason(failure.reason or "") or "unavailable") from None
    if isinstance(failure, YouTubeRequestFailed) and re.match(r"5\d\d", failure.reason):
        raise IngestFailed(
            "YouTube has a fault of its own; try again later.", reason="server_error", may_pass=True
        ) from None
    raise _refusal("blocked") from None


def _reason(told: str) -> str:
    return next((r for r, words in _REASONS if re.search(words, told, re.IGNORECASE)), "")


def _refusal(reason: str) -> IngestFailed:
    passing = {"may_pass": True} if reason == "not_yet" else {}
    return IngestFailed(_MESSAGES[reason], reason=reason, **passing)
