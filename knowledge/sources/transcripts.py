"""Transcripts that somebody published, in the forms they come in."""

import json
import re
from bisect import bisect_right
from dataclasses import replace
from html import unescape
from itertools import accumulate
from typing import Any

from knowledge.errors import IngestFailed
from knowledge.sources.extracted import Part, Segment, join_segments

KINDS = ("vtt", "srt", "json", "html", "text")
"""Best first: those that tell the seconds and the speaker before those that may not."""

Row = tuple[str, float | None, str]
"""Who speaks, at which second if that is told, and the words."""

_KIND_OF_TYPE = {
    "text/vtt": "vtt",
    "application/srt": "srt",
    "application/x-subrip": "srt",
    "text/srt": "srt",
    "application/json": "json",
    "text/html": "html",
    "text/plain": "text",
}
_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
_CUE = re.compile(rf"^[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[^\n]*$", re.MULTILINE)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^<>]+)>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:v|c|b|i|u|s|em|strong|font|ruby|rt|lang|\d)[^<>]*>", re.IGNORECASE)
_BLOCK = re.compile(r"^(?:NOTE|STYLE|REGION)\b.*?(?:\n[ \t]*\n|\Z)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"(?:>>\s*)?([A-Z][\w.'’-]*(?: [A-Z0-9][\w.'’-]*){0,3}):\s+(?=\S)")
_STAMP = re.compile(r"[\[(]?((?:\d{1,2}:)?\d{1,2}:\d{2}(?:\.\d+)?)[\])]?\s+")
_CHARACTERS_A_SECOND = 15.0
_LONGEST_ROLL = 60


def kind_of(media_type: str, url: str) -> str:
    """Which of the kinds a transcript is, by its type or else by its name; "" if none."""
    by_type = _KIND_OF_TYPE.get(media_type.split(";")[0].strip().lower(), "")
    ending = url.split("?")[0].split("#")[0].rsplit(".", 1)[-1].lower()
    by_name = {"txt": "text", "htm": "html"}.get(ending, ending)
    # Servers call subtitles plain text when they do not know them.
    if by_name in KINDS and by_type in ("", "text"):
        return by_name
    return by_type


def parse_transcript(text: str, kind: str) -> list[Segment]:
    """The utterances in order, all at second 0 where no times are told.

    A transcript without any is refused as not_extractable.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    read = {"srt": _cues, "vtt": _cues, "json": _json, "html": _html, "text": _plain}[kind]
    segments = [segment for segment in read(text) if segment.text]
    if not segments:
        raise _unreadable(kind)
    return _merge_rolling(segments) if kind in ("srt", "vtt") else segments


def as_text(segments: list[Segment]) -> tuple[str, tuple[Part, ...]]:
    """The transcript as one text, with its seconds where they are known."""
    if any(segment.end_sec for segment in segments):
        return join_segments(segments)
    told = (f"{said.speaker}: {said.text}" if said.speaker else said.text for said in segments)
    return "\n\n".join(told), ()


def _unreadable(kind: str) -> IngestFailed:
    return IngestFailed(
        f"The transcript holds nothing that can be read as {kind}; send it in another form.",
        reason="not_extractable",
    )


def _cues(text: str) -> list[Segment]:
    text = _BLOCK.sub("", text)
    heads = list(_CUE.finditer(text))
    ends = [*(head.start() for head in heads), len(text)][1:]
    return [_cue(head, text[head.end() : end]) for head, end in zip(heads, ends, strict=True)]


def _cue(head: re.Match[str], body: str) -> Segment:
    # What stands after the blank line is the next cue's name or number.
    said = re.split(r"\n[ \t]*\n", body.lstrip("\n"), maxsplit=1)[0]
    voice = _VOICE.search(said)
    words = _words(_TAG.sub("", said))
    speaker, words = (_words(voice[1]), words) if voice else _split_speaker(words)
    start, end = _seconds(*head.groups()[:4]), _seconds(*head.groups()[4:])
    return Segment(start_sec=start, end_sec=max(start, end), text=words, speaker=speaker)


def _seconds(hours: str | None, minutes: str, seconds: str, thousandths: str | None) -> float:
    fraction = int((thousandths or "0").ljust(3, "0")) / 1000
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + fraction


def _words(text: str) -> str:
    return " ".join(unescape(text).replace("\u200b", "").split())


def _split_speaker(words: str) -> tuple[str, str]:
    """Who speaks and what they say, where a line begins with a name and a colon."""
    if found := _NAME.match(words):
        return found[1], words[found.end() :]
    return "", words.removeprefix(">>").lstrip()


def _merge_rolling(segments: list[Segment]) -> list[Segment]:
    """Each word once: captions that roll show a line again while the next one comes in."""
    kept: list[Segment] = []
    for segment in segments:
        last = kept[-1] if kept else None
        if last is None or segment.start_sec - last.end_sec > 1:
            kept.append(segment)
            continue
        new = _new_words(last.text, segment.text)
        if not new:
            kept[-1] = replace(last, end_sec=max(last.end_sec, segment.end_sec))
        elif new == segment.text:
            kept.append(segment)
        else:
            kept[-1] = replace(last, end_sec=max(last.start_sec, segment.start_sec))
            kept.append(replace(segment, text=new, speaker=segment.speaker or last.speaker))
    return kept


def _new_words(before: str, now: str) -> str:
    """What a caption adds to the one before it, whose last words it may show again."""
    old, new = before.split(), now.split()
    for count in range(min(len(old), len(new), _LONGEST_ROLL), 2, -1):
        if old[-count:] == new[:count]:
            return " ".join(new[count:])
    return "" if before == now else now


def _json(text: str) -> list[Segment]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        raise _unreadable("json") from None
    rows = rows.get("segments") if isinstance(rows, dict) else rows
    if not isinstance(rows, list):
        raise _unreadable("json")
    return [_json_segment(row) for row in rows if isinstance(row, dict)]


def _json_segment(row: dict[str, Any]) -> Segment:
    start = _number(row.get("startTime", row.get("start")))
    end = _number(row.get("endTime", row.get("end")))
    return Segment(
        start_sec=start,
        end_sec=max(start, end),
        text=_words(str(row.get("body") or row.get("text") or "")),
        speaker=_words(str(row.get("speaker") or "")),
    )


def _number(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return 0.0
    return number if 0 <= number < 1e7 else 0.0


def _html(text: str) -> list[Segment]:
    """Paragraphs, with the `<cite>` and `<time>` that stand before or in them."""
    import lxml.html  # only a child reads what is hostile, and only it needs this

    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        document = lxml.html.document_fromstring(text.encode(errors="replace"), parser=parser)
    except (lxml.etree.LxmlError, ValueError):
        raise _unreadable("html") from None
    for noise in document.xpath("//script | //style | //head | //nav | //footer"):
        noise.drop_tree()
    marked = document.xpath("//time | //cite")
    return _segments_of(_rows_of_marks(document)) if marked else _plain(_paragraphs(document))


def _rows_of_marks(document: Any) -> list[Row]:
    """A mark in a paragraph is that paragraph's; one that stands alone is for those after it."""
    speaker, at, rows = "", None, []
    for element in document.xpath("//cite[not(ancestor::p)] | //time[not(ancestor::p)] | //p"):
        if element.tag == "cite":
            speaker = _speaker(element)
        elif element.tag == "time":
            at = _clock(element.text_content())
        else:
            speaker = next(map(_speaker, element.xpath(".//cite")), speaker)
            at = next((_clock(time.text_content()) for time in element.xpath(".//time")), at)
            words = element.xpath(".//text()[not(ancestor::cite or ancestor::time)]")
            rows.append((speaker, at, _words("".join(words))))
            at = None
    return [row for row in rows if row[2]]


def _speaker(cite: Any) -> str:
    return _words(cite.text_content()).rstrip(":").rstrip()


def _clock(words: str) -> float | None:
    numbers = words.strip().strip("[]()").split(":")
    if len(numbers) > 3 or not all(re.fullmatch(r"\d{1,7}(\.\d+)?", number) for number in numbers):
        return None
    seconds = 0.0
    for number in numbers:
        seconds = seconds * 60 + float(number)
    return seconds


def _paragraphs(document: Any) -> str:
    for block in document.iter("p", "div", "br", "li", "h1", "h2", "h3", "h4", "tr"):
        block.tail = f"\n\n{block.tail or ''}"
    return str(document.text_content())


def _plain(text: str) -> list[Segment]:
    """Paragraphs, with a time in brackets or a name and a colon where they begin with one."""
    rows: list[Row] = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        words = _words(paragraph)
        stamp = _STAMP.match(words)
        speaker, said = _split_speaker(words[stamp.end() :] if stamp else words)
        rows.append((speaker, _clock(stamp[1]) if stamp else None, said))
    return _segments_of([row for row in rows if row[2]])


def _segments_of(rows: list[Row]) -> list[Segment]:
    """Each from the last second that was told to the next; all at 0 where none is told."""
    told = (at for _, at, _ in rows)
    starts = list(accumulate(told, lambda last, at: last if at is None else at, initial=0.0))[1:]
    turns = sorted(set(starts)) if any(at is not None for _, at, _ in rows) else []
    return [
        Segment(start_sec=start, end_sec=_end(start, words, turns), text=words, speaker=speaker)
        for start, (speaker, _, words) in zip(starts, rows, strict=True)
    ]


def _end(start: float, words: str, turns: list[float]) -> float:
    if not turns:
        return 0.0
    following = bisect_right(turns, start)
    if following < len(turns):
        return turns[following]
    return start + round(len(words) / _CHARACTERS_A_SECOND, 3)
