"""From a character of a chunk to the page or second of its source."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.sources.extracted import Segment, join_segments
from knowledge.text.places import link_to, mark_before, span_locator

SECONDS = "start_sec"


@st.composite
def parted_texts(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]], int]:
    """What the marks are called, parts in order with gaps, and how long the text is."""
    name = draw(st.sampled_from(["page", SECONDS]))
    parts: list[dict[str, Any]] = []
    at = 0
    for number in range(draw(st.integers(0, 12))):
        start = at + draw(st.integers(0, 4))
        at = start + draw(st.integers(0, 30))
        part = {"start": start, "end": at, name: number * 10 + 1}
        parts.append(part | ({"end_sec": number * 10 + 9} if name == SECONDS else {}))
    return name, parts, at + draw(st.integers(1, 9))


@given(parted_texts(), st.data())
def test_every_character_of_a_chunk_leads_to_the_part_that_holds_it(
    parted: tuple[str, list[dict[str, Any]], int], data: st.DataObject
) -> None:
    name, parts, length = parted
    start = data.draw(st.integers(0, length - 1))
    end = data.draw(st.integers(start + 1, length))
    locator = span_locator(parts, start, end)
    assert locator["char_span"] == [start, end]
    for part in parts:
        for character in range(max(start, part["start"]), min(end, part["end"])):
            assert mark_before(locator, name, character) == part[name]
    other = "page" if name == SECONDS else SECONDS
    assert mark_before(locator, other, start) is None


@given(parted_texts())
def test_what_stands_between_two_parts_belongs_to_the_second(
    parted: tuple[str, list[dict[str, Any]], int],
) -> None:
    name, parts, length = parted
    said = [part for part in parts if part["start"] < part["end"]]
    whole = span_locator(said, 0, length)
    for before, after in pairwise(said):
        for character in range(before["end"], after["start"]):
            assert mark_before(whole, name, character) == after[name]


def test_a_chunk_that_begins_with_a_speakers_name_leads_to_what_they_say() -> None:
    text, kept = join_segments(
        [
            Segment(start_sec=7.0, end_sec=9.0, text="Granite is hard.", speaker="Ada"),
            Segment(start_sec=40.0, end_sec=44.0, text="Chalk is soft.", speaker="Bo"),
        ]
    )
    parts = [
        {"start": p.start, "end": p.end, SECONDS: p.start_sec, "end_sec": p.end_sec} for p in kept
    ]
    whole = span_locator(parts, 0, len(text))
    assert (whole[SECONDS], whole["end_sec"]) == (7.0, 44.0)
    second = span_locator(parts, text.index("Bo:"), len(text))
    assert (second[SECONDS], second["end_sec"]) == (40.0, 44.0)
    assert mark_before(whole, SECONDS, text.index("Bo:")) == 40.0
    assert mark_before(whole, SECONDS, text.index("soft")) == 40.0


def test_a_text_without_parts_has_only_characters() -> None:
    locator = span_locator([], 3, 9)
    assert locator == {"char_span": [3, 9]}
    assert mark_before(locator, "page", 5) is mark_before(locator, SECONDS, 5) is None


def test_text_after_the_last_part_belongs_to_it() -> None:
    assert span_locator([{"start": 0, "end": 5, "page": 8}], 6, 9)["page"] == 8


@pytest.mark.parametrize(
    ("url", "kind", "place", "expected"),
    [
        ("https://a.example/x.pdf#old", "pdf", {"page": 3}, "https://a.example/x.pdf#page=3"),
        ("https://a.example/x.docx", "office", {"page": 3}, "https://a.example/x.docx"),
        ("https://youtu.be/x?v=1", "youtube", {SECONDS: 61.9}, "https://youtu.be/x?v=1&t=61s"),
        ("https://a.example/e", "podcast", {SECONDS: 5.0}, "https://a.example/e#t=5"),
        ("https://a.example/e", "webpage", {}, "https://a.example/e"),
    ],
)
def test_a_link_leads_to_the_place_in_the_way_its_source_understands(
    url: str, kind: str, place: dict[str, Any], expected: str
) -> None:
    asked = {"page": None, SECONDS: None, **place}
    assert link_to(url, kind, page=asked["page"], start_sec=asked[SECONDS]) == expected


def test_an_episode_is_heard_where_its_recording_is() -> None:
    told = link_to(
        "https://a.example/e",
        "podcast",
        media_url="https://cdn.example/e.mp3",
        page=None,
        start_sec=75.5,
    )
    assert told == "https://cdn.example/e.mp3#t=75"
