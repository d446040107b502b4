"""Published transcripts, in every form they come in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.errors import IngestFailed
from knowledge.sources.extracted import Segment
from knowledge.sources.transcripts import KINDS, as_text, kind_of, parse_transcript

SRT = """1
00:00:01,000 --> 00:00:04,500
Welcome to the show.

2
00:00:05,000 --> 00:00:07,250
ADA LOVELACE: Thank you,
it is <i>good</i> to be here.

3
01:00:08,000 --> 01:00:09,000
Bye &amp; thanks.
"""
VTT = """WEBVTT - a title

STYLE
::cue { color: red }

NOTE this is
not spoken

intro
00:01.000 --> 00:04.500 align:start position:0%
<v.loud Ada Lovelace>Welcome to the <c.yellow>show</c>.</v>

00:05.000 --> 00:07.250
- Plain <00:06.000>words.
"""
ROLLING = """WEBVTT

00:00:00.000 --> 00:00:02.000
we carve the stone

00:00:02.000 --> 00:00:02.010
we carve the stone

00:00:02.010 --> 00:00:04.000
we carve the stone
with water and time

00:00:04.000 --> 00:00:04.010
with water and time

00:00:04.010 --> 00:00:06.000
with water and time
and nothing else
"""
JSON = {
    "version": "1.0.0",
    "segments": [
        {"speaker": "Ada", "startTime": 0.5, "endTime": 2, "body": "Welcome"},
        {"speaker": "Ada", "startTime": 2.0, "endTime": 3, "body": "to the show."},
        {"startTime": "x", "body": ""},
    ],
}
HTML = """<html><head><title>Transcript</title></head><body>
<cite>Ada:</cite> <time>0:05</time> <p>Welcome to the show.</p>
<p>I say one thing more.</p>
<cite>Bob</cite> <time>1:00:10</time> <p>Thanks &amp; hello.</p>
<script>evil()</script></body></html>"""


def times(segments: list[Segment]) -> list[tuple[float, float]]:
    return [(segment.start_sec, segment.end_sec) for segment in segments]


def test_srt_gives_seconds_speakers_and_clean_words() -> None:
    segments = parse_transcript(SRT, "srt")
    assert [segment.text for segment in segments] == [
        "Welcome to the show.",
        "Thank you, it is good to be here.",
        "Bye & thanks.",
    ]
    assert segments[1].speaker == "ADA LOVELACE"
    assert times(segments) == [(1, 4.5), (5, 7.25), (3608, 3609)]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    assert parse_transcript("\ufeff" + SRT.replace("\n", "\r\n"), "srt") == (
        parse_transcript(SRT, "srt")
    )


def test_vtt_gives_voices_and_leaves_out_notes_styles_and_settings() -> None:
    segments = parse_transcript(VTT, "vtt")
    assert [(s.speaker, s.text) for s in segments] == [
        ("Ada Lovelace", "Welcome to the show."),
        ("", "- Plain words."),
    ]
    assert times(segments) == [(1, 4.5), (5, 7.25)]


def test_rolling_captions_say_each_word_once() -> None:
    segments = parse_transcript(ROLLING, "vtt")
    assert [segment.text for segment in segments] == [
        "we carve the stone",
        "with water and time",
        "and nothing else",
    ]
    assert times(segments) == [(0, 2.01), (2.01, 4.01), (4.01, 6)]


def test_short_words_that_are_said_twice_stay_twice() -> None:
    spoken_twice = "00:01.000 --> 00:02.000\nNo, no.\n\n00:02.000 --> 00:03.000\nNo, no. Never.\n"
    texts = [segment.text for segment in parse_transcript(spoken_twice, "vtt")]
    assert texts == ["No, no.", "No, no. Never."]


def test_json_gives_seconds_and_speakers() -> None:
    segments = parse_transcript(json.dumps(JSON), "json")
    assert [(s.speaker, s.text) for s in segments] == [("Ada", "Welcome"), ("Ada", "to the show.")]
    assert times(segments) == [(0.5, 2), (2, 3)]


def test_html_gives_the_seconds_and_the_speakers_it_marks() -> None:
    segments = parse_transcript(HTML, "html")
    assert [(s.speaker, s.text) for s in segments] == [
        ("Ada", "Welcome to the show."),
        ("Ada", "I say one thing more."),
        ("Bob", "Thanks & hello."),
    ]
    assert times(segments)[:2] == [(5, 3610), (5, 3610)]
    assert segments[2].start_sec == 3610


def test_html_without_marks_is_its_paragraphs() -> None:
    segments = parse_transcript("<p>One two.</p><p>Ada: Three four.</p>", "html")
    assert as_text(segments) == ("One two.\n\nAda: Three four.", ())


def test_plain_text_has_seconds_only_where_it_tells_them() -> None:
    told = parse_transcript("[00:05] Ada: Welcome.\n\nMore.\n\n[01:00] Bob: Bye.", "text")
    assert [(s.start_sec, s.speaker, s.text) for s in told] == [
        (5, "Ada", "Welcome."),
        (5, "", "More."),
        (60, "Bob", "Bye."),
    ]
    text, parts = as_text(parse_transcript("Just words.\n\nAnd more.", "text"))
    assert (text, parts) == ("Just words.\n\nAnd more.", ())


def test_a_timed_transcript_leads_back_to_its_seconds() -> None:
    text, parts = as_text(parse_transcript(SRT, "srt"))
    at = next(part for part in parts if "good" in text[part.start : part.end])
    assert (at.start_sec, at.end_sec, at.speaker) == (5, 7.25, "ADA LOVELACE")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(("", kind) for kind in KINDS),
        *((" \n\n ", kind) for kind in KINDS),
        ("<html><body><script>1</script></body></html>", "html"),
        ("{}", "json"),
        ('{"segments": 3}', "json"),
        ("<html>Not found</html>", "json"),
        ("<html>Not found</html>", "srt"),
        ("WEBVTT\n\nNOTE nothing", "vtt"),
    ],
)
def test_what_holds_no_words_is_refused(text: str, kind: str) -> None:
    with pytest.raises(IngestFailed) as refused:
        parse_transcript(text, kind)
    assert refused.value.details["reason"] == "not_extractable"


@pytest.mark.parametrize(
    ("media_type", "url", "kind"),
    [
        ("text/vtt", "https://a.example/t", "vtt"),
        ("application/x-subrip", "https://a.example/t.txt", "srt"),
        ("text/plain", "https://a.example/t.srt?x=1", "srt"),
        ("", "https://a.example/t.JSON", "json"),
        ("text/html; charset=utf-8", "https://a.example/t", "html"),
        ("text/plain", "https://a.example/t", "text"),
        ("", "https://a.example/t", ""),
    ],
)
def test_the_kind_is_told_by_type_and_else_by_name(media_type: str, url: str, kind: str) -> None:
    assert kind_of(media_type, url) == kind


@given(st.text(max_size=300), st.sampled_from(KINDS))
def test_no_text_whatever_breaks_the_reading(text: str, kind: str) -> None:
    try:
        segments = parse_transcript(text, kind)
    except IngestFailed:
        return
    assert all(
        0 <= segment.start_sec <= segment.end_sec or not segment.end_sec for segment in segments
    )
