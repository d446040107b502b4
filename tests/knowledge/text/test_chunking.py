import base64
import random
import sys
import time
from subprocess import run

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from knowledge.providers.granite_pack import installed_pack, read_pack
from knowledge.text.chunking import (
    FENCE_TOKENS,
    MAX_TOKENS,
    TARGET_TOKENS,
    TINY_TOKENS,
    Piece,
    chunk,
)
from knowledge.text.outline import blocks
from knowledge.text.token_estimate import token_count

MOST_CHARACTERS = 4_000
MODEL_TOKENS = 512

SENTENCE = "The quarry lies on the north side of the hill and is drained by two pumps. "
PARAGRAPH = SENTENCE * 12


def texts_of(pieces: list[Piece]) -> list[str]:
    return [piece.text for piece in pieces]


def is_blank(text: str) -> bool:
    return not text.strip()


def assert_covers(text: str, pieces: list[Piece]) -> None:
    """Every non-blank character is in exactly one piece, and the pieces are in order."""
    end = 0
    for piece in pieces:
        assert text[piece.start : piece.end] == piece.text
        assert is_blank(text[end : piece.start])
        assert piece.start >= end
        assert piece.text == piece.text.strip() != ""
        end = piece.end
    assert is_blank(text[end:])


# What holds of every text


LINES = st.sampled_from(
    [
        "# Title",
        "## Part ##",
        "###### Deep",
        "#",
        "Name\n====",
        "Other\n---",
        "---",
        "```python",
        "```",
        "    ```",
        "~~~~",
        "- item one",
        "  3) nested",
        "| a | b |",
        "> quoted",
        "Ada Lovelace: I see.",
        "[00:12] Speaker 2: Go on",
        "",
        "   ",
        "\t",
        "漢字かな交じり文。改行なし！",
        "e\u0301" * 30,
        "👩‍👩‍👧" * 10,
        "\ud83d\ude00" * 10,
        "A" * 300,
        SENTENCE,
        PARAGRAPH,
        "x = [i for i in range(10)]",
    ]
)
DOCUMENTS = st.builds(
    lambda lines, newline: newline.join(lines),
    st.lists(LINES | st.text(max_size=40), max_size=40),
    st.sampled_from(["\n", "\r\n", "\n\n", "\r"]),
)


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS, st.integers(1, 80), st.integers(1, 120))
@example("\x1f\x85\u2028 \u200b", 1, 1)
@example("---\na\n---", 10, 20)
def test_every_character_is_in_one_piece_and_no_piece_is_too_large(document, target, most):
    pieces = chunk(document, target_tokens=target, max_tokens=most, fence_tokens=most)

    assert_covers(document, pieces)
    assert all(
        token_count(piece.text) <= most + 1 or len(piece.text) <= 2 or is_one_cluster(piece.text)
        for piece in pieces
    )


def is_one_cluster(text: str) -> bool:
    return len(text) <= 64 and any(character in text for character in "\u0301\u200d\ud83d")


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_the_headings_above_a_piece_stand_before_it_in_the_text(document):
    for piece in chunk(document):
        at = 0
        for heading in piece.heading_path:
            at = document.find(heading, at, piece.start) + 1
            assert at > 0


HOSTILE = {
    "backticks": "`",
    "hashes": "#",
    "newlines": "\n",
    "pipes": "|",
    "one word": "a",
    "blanks": " ",
    "sentences": ". ",
    "empty headings": "# \n",
    "headings": "# a\n",
    "short lines": "a\n",
    "nested quotes": "> ",
    "nested lists": "- ",
    "brackets": "[",
    "ideographs": "漢",
    "accents": "\u0301",
    "open fences": "```\n",
    "fences": "```\nx\n```\n",
    "fences that never close": "~~~~\n```\n",
    "turns": "A: b\n",
    "names": "A A A A\n",
    "underlines": "a\n--\n",
    "rising and falling headings": "###### x\n\ny\n\n# z\n\n",
    "surrogates": "\ud83d\ude00",
    "indented blanks": "    \n    x\n",
    "carriage returns": "\r",
    "clocks": "00:00:00 ",
    "dashes": "-",
    "dashes and bars": "-|",
    "tables": "a|b\n-|-\n",
}


@pytest.mark.parametrize("pattern", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_characters_by_the_hundred_thousand_are_cut_in_linear_time(pattern):
    text = (pattern * 200_000)[:200_000]

    started = time.process_time()
    pieces = chunk(text)
    seconds = time.process_time() - started

    assert_covers(text, pieces)
    assert max((len(piece.text) for piece in pieces), default=0) <= MOST_CHARACTERS
    assert seconds < 5


def test_a_heading_of_half_a_million_characters_does_not_swell_the_pieces_below_it():
    text = "# " + "word " * 100_000 + "\n\n" + PARAGRAPH * 100

    pieces = chunk(text)

    assert_covers(text, pieces)
    assert max(len(piece.indexed_text("t" * 500)) for piece in pieces) <= MOST_CHARACTERS


def test_half_a_million_characters_of_prose_take_no_minutes():
    text = f"## Part\n\n{PARAGRAPH}\n\n" * 600
    assert len(text) > 500_000

    started = time.process_time()
    pieces = chunk(text)
    seconds = time.process_time() - started

    assert len(pieces) == 600
    # The margin is for a busy machine; a pattern that backtracks takes minutes.
    assert seconds < 30


# Structure


def test_a_short_text_is_one_piece():
    assert chunk("  Granite is hard.\n") == [Piece(2, 18, "Granite is hard.", ())]


@pytest.mark.parametrize("text", ["", " ", "\r\n\t\n"])
def test_a_blank_text_has_no_pieces(text):
    assert chunk(text) == []


def test_offsets_are_exact_with_windows_line_ends_and_wide_characters():
    text = "\r\n\r\n".join(["# Hügel 👩‍👩‍👧", PARAGRAPH, "## Täler", PARAGRAPH])

    pieces = chunk(text)

    assert_covers(text, pieces)
    assert [piece.heading_path for piece in pieces] == [(), ("Hügel 👩‍👩‍👧",)]
    assert pieces[1].text.startswith("## Täler\r\n")


def test_sections_are_pieces_that_know_the_headings_above_them():
    text = f"# Guide\n\n{PARAGRAPH}\n\n## Install\n\n{PARAGRAPH}\n\n## Run\n\n{PARAGRAPH}"

    pieces = chunk(text)

    assert [piece.text.split("\n")[0] for piece in pieces] == ["# Guide", "## Install", "## Run"]
    assert [piece.heading_path for piece in pieces] == [(), ("Guide",), ("Guide",)]


def test_a_later_piece_of_a_section_keeps_its_heading():
    text = f"# Guide\n\n## Install\n\n{PARAGRAPH}\n\n{PARAGRAPH}\n\n{PARAGRAPH}"

    first, *later = chunk(text)

    assert first.heading_path == ()
    assert len(later) >= 1
    assert {piece.heading_path for piece in later} == {("Guide", "Install")}


def test_headings_come_hashed_or_underlined_and_closed_or_indented():
    text = "\n\n".join(
        ["Top\n===", PARAGRAPH * 2, "   ## In C# ##", PARAGRAPH * 2, "Lower\n---", PARAGRAPH * 2]
    )

    paths = {piece.heading_path for piece in chunk(text)}

    assert paths == {(), ("Top",), ("Top", "In C#"), ("Top", "Lower")}


def test_what_only_looks_like_a_heading_is_none():
    text = "\n\n".join(
        ["#hashtag", "    # indented code", "- item\n---", "```\n# comment\n```", PARAGRAPH * 4]
    )

    assert {piece.heading_path for piece in chunk(text)} == {()}


def test_tiny_sections_are_joined_instead_of_standing_alone():
    text = "\n\n".join(f"## Q{number}\n\nYes, it is." for number in range(12))

    pieces = chunk(text)

    assert len(pieces) <= 2
    assert pieces[0].heading_path == ()


def test_a_piece_of_two_joined_sections_has_only_the_headings_above_both():
    text = f"# A\n\n## B\n\n{PARAGRAPH * 2}\n\n### C\n\nShort.\n\n## D\n\nShort too."

    *_, in_b, joined = chunk(text)

    assert in_b.heading_path == ("A", "B")
    assert joined.text == "### C\n\nShort.\n\n## D\n\nShort too."
    assert joined.heading_path == ("A",)


def test_a_heading_is_never_the_end_of_a_piece():
    text = "\n\n".join(f"## Part {number}\n\n{SENTENCE * (number % 9)}" for number in range(1, 40))

    for piece in chunk(text):
        assert not piece.text.splitlines()[-1].startswith("#")


def test_front_matter_is_no_heading():
    text = f"---\ntitle: Skill\n---\n\n{PARAGRAPH * 3}"

    pieces = chunk(text)

    assert_covers(text, pieces)
    assert {piece.heading_path for piece in pieces} == {()}


def code_fence(lines: int, *, mark: str = "```", indent: str = "") -> str:
    code = [f"{indent}value_{number} = compute({number})" for number in range(lines)]
    return "\n".join([f"{indent}{mark}python", *code, f"{indent}{mark}"])


@pytest.mark.parametrize("mark", ["```", "~~~~", "`````"])
@pytest.mark.parametrize("indent", ["", "    "])
def test_a_code_fence_stays_whole_among_prose(mark, indent):
    fences = (code_fence(lines, mark=mark, indent=indent) for lines in range(99))
    fence = next(fence for fence in fences if token_count(fence) > TARGET_TOKENS)

    pieces = chunk(f"{PARAGRAPH}\n\n{fence}\n\n{PARAGRAPH}\n{fence}\n{PARAGRAPH}")

    assert sum(fence.strip() in piece.text for piece in pieces) == 2


def test_blank_lines_and_headings_inside_a_fence_do_not_split_it():
    fence = "```sh\n" + "# setup\n\nmake all\n\n" * 6 + "```"

    pieces = chunk(f"{PARAGRAPH * 2}\n\n{fence}\n\n{PARAGRAPH * 2}")

    assert any(fence in piece.text for piece in pieces)
    assert {piece.heading_path for piece in pieces} == {()}


def longest_fence() -> str:
    fences = (code_fence(lines) for lines in range(300, 0, -1))
    return next(fence for fence in fences if token_count(fence) <= FENCE_TOKENS)


@pytest.mark.parametrize("above", ["", "# Use\n\n", "Write this:\n\n", f"{PARAGRAPH}\n\n"])
@pytest.mark.parametrize("below", ["", f"\n\n{PARAGRAPH}", "\n\n## Next\n\nMore of it."])
def test_a_long_fence_is_one_piece_with_its_language(above, below):
    fence = longest_fence()
    assert token_count(fence) > 1_400
    text = f"{above}{fence}{below}"

    pieces = chunk(text)

    assert_covers(text, pieces)
    assert sum(fence in piece.text for piece in pieces) == 1


def test_a_line_that_introduces_a_long_fence_stays_with_it():
    fence = longest_fence()

    pieces = chunk(f"# Use\n\nWrite this:\n\n{fence}\n\n{PARAGRAPH}")

    assert pieces[0].text == f"# Use\n\nWrite this:\n\n{fence}"


@pytest.mark.parametrize(
    ("opening", "language"),
    [("```python", "python"), ("``` c++ title=a", "c++"), ("~~~ {.rust}", "rust"), ("```", "")],
)
def test_a_fence_that_is_too_large_is_cut_between_lines(opening, language):
    fence = "\n".join([opening, *code_fence(300).split("\n")[1:-1], opening[:3]])
    text = f"# Use\n\n{fence}\n\nAfter it all."

    pieces = chunk(text)

    assert_covers(text, pieces)
    within = [piece for piece in pieces[1:] if "value_" in piece.text]
    assert len(within) > 5
    lines = fence.split("\n")
    assert all(line in lines for piece in within[:-1] for line in piece.text.split("\n"))
    context = ("Use", f"```{language}") if language else ("Use",)
    assert {piece.heading_path for piece in within} == {context}


def test_a_fence_that_never_closes_runs_to_the_end():
    text = f"# Real\n\n```\n# not a heading\n\n{PARAGRAPH}\n\n# nor this\n\n{PARAGRAPH * 4}"

    pieces = chunk(text)

    assert_covers(text, pieces)
    assert {piece.heading_path for piece in pieces[1:]} == {("Real",)}


@pytest.mark.parametrize(
    "speaker",
    [
        "Ada Lovelace:",
        "**Dr. O'Neil:**",
        "SPEAKER 12:",
        "[00:01:23] Ada:",
        "Q:",
        "user:",
        "王：",
        "Ada (12:03):",
    ],
)
def test_a_speakers_turn_stays_whole(speaker):
    pieces = chunk(f"{speaker} {SENTENCE * 5}\n" * 12)

    assert len(pieces) > 2
    assert {piece.text[: len(speaker)] for piece in pieces} == {speaker}


def test_a_paragraph_that_is_too_large_is_cut_at_sentences_into_even_parts():
    pieces = chunk(SENTENCE * 40)

    sizes = [token_count(piece.text) for piece in pieces]
    assert all(piece.text.endswith("pumps.") for piece in pieces)
    assert max(sizes) <= TARGET_TOKENS
    assert min(sizes) > max(sizes) / 2


def test_chinese_is_cut_at_its_own_full_stops():
    pieces = chunk("采石场位于山的北面，由两台水泵排水。" * 60)

    assert len(pieces) > 5
    assert all(piece.text.endswith("。") for piece in pieces)


def test_a_list_and_a_table_are_cut_between_their_rows():
    rows = [f"| {number} | {SENTENCE.strip()} | yes |" for number in range(40)]
    items = [f"- {SENTENCE}{SENTENCE.strip()}" for _ in range(40)]

    assert {text[0] for text in texts_of(chunk("\n".join(rows)))} == {"|"}
    assert {text[0] for text in texts_of(chunk("\n".join(items)))} == {"-"}


TABLE_ROWS = "\n".join(f"| {n} | {SENTENCE.strip()} | yes |" for n in range(40))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_part_of_a_table_knows_its_first_row(newline):
    header = "| No | What | Done? |"
    text = f"# Work\n\nAs planned:\n{header}\n|---|:--|--:|\n{TABLE_ROWS}\n\n# Rest\n\n{PARAGRAPH}"

    first, *later, last = chunk(text.replace("\n", newline))

    assert header in first.text
    assert len(later) > 1
    assert {piece.heading_path for piece in later} == {("Work", header)}
    assert {piece.text[0] + piece.text[-1] for piece in later} == {"||"}
    assert last.heading_path == ()


@pytest.mark.parametrize("line", ["## Setup | Linux", '```sh title="a|b"'])
def test_another_block_ends_a_table(line):
    text = f"| No | What |\n|---|---|\n| 1 | pump |\n{line}\nls\n```\n"

    table, other, *_ = blocks(text)

    assert (table.kind, text[table.start : table.end][-7:]) == ("table", "pump |\n")
    assert text[other.start :].startswith(line)


def test_a_table_without_outer_bars_is_cut_between_its_rows():
    rows = "\n".join(f"{number} | {SENTENCE * 2}| yes" for number in range(40))

    first, *later = chunk(f"No | What | Done?\n--- | --- | ---\n{rows}")

    assert first.text.startswith("No")
    assert {piece.heading_path for piece in later} == {("No | What | Done?",)}
    assert {piece.text.split(" | ")[-1] for piece in later} == {"yes"}


@pytest.mark.parametrize("text", [TABLE_ROWS, f"Pumps | Mills\n---\n{TABLE_ROWS}"])
def test_without_a_row_of_dashes_between_bars_it_is_no_table(text):
    assert not any("|" in name for piece in chunk(text)[1:] for name in piece.heading_path[1:])


def test_words_are_whole_where_there_are_no_sentences():
    text = "granite marble slate " * 400

    words = {word for piece in chunk(text) for word in piece.text.split()}

    assert words == {"granite", "marble", "slate"}


@pytest.mark.parametrize("cluster", ["e\u0301", "👩‍👩‍👧", "👍🏽", "\ud83d\ude00", "क्षि"])
def test_a_character_of_several_code_points_is_not_cut_apart(cluster):
    pieces = chunk(cluster * 500)

    assert len(pieces) > 2
    assert {piece.text.replace(cluster, "") for piece in pieces} == {""}


# Size


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_str(read_pack(installed_pack()).tokenizer)


def noise(alphabet: str, length: int = 30_000) -> str:
    return "".join(random.Random(7).choices(alphabet, k=length))


SCRIPTS = {
    "prose": PARAGRAPH * 40,
    "code": "\n".join(code_fence(300).split("\n")[1:-1]),
    "fences": "\n\n".join(code_fence(lines) for lines in range(5, 60)),
    "numbers": "1,234.56 | 2024-01-31 | 0.3 % | 17\n" * 400,
    "chinese": "采石场位于山的北面，由两台水泵排水。" * 300,
    "japanese": "採石場は丘の北側にあり、ポンプで排水されています。" * 300,
    "korean": "채석장은 언덕 북쪽에 있으며 펌프 두 대로 배수된다. " * 300,
    "russian": "Карьер лежит на северном склоне и осушается двумя насосами. " * 300,
    "german": "Der Steinbruch liegt auf der Nordseite und wird durch Pumpen entwässert. " * 300,
    "arabic": "يقع المحجر على الجانب الشمالي من التل ويجفف بمضختين. " * 300,
    "hindi": "खदान पहाड़ी के उत्तर में है और दो पंपों से सुखाई जाती है। " * 300,
    "thai": "เหมืองหินอยู่ทางทิศเหนือของเนินเขา" * 300,
    "emoji": "👩‍👩‍👧🚀🔥👍🏽" * 500,
    "base64": base64.b64encode(random.Random(7).randbytes(30_000)).decode(),
    "hexadecimal": noise("0123456789abcdef"),
    "letters": noise("abcdefghijklmnopqrstuvwxyz"),
    "marks": noise("!#$%&()*+,-./:;<=>?@[]^_{|}~"),
    "blanks": noise(" \t\na"),
}


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_the_model_reads_every_piece_to_its_end(tokenizer, text):
    title, heading = text[:500], f"# {' '.join(text[:200].split())}\n\n"

    pieces = chunk(heading + text)

    for piece in pieces:
        is_fence = piece.text.startswith("```") and piece.text.endswith("```")
        assert is_fence or len(tokenizer.encode(piece.indexed_text(title)).ids) <= MODEL_TOKENS
        assert len(piece.text) <= MOST_CHARACTERS


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_the_estimate_of_tokens_is_near_what_the_tokenizer_counts(tokenizer, text):
    counted = len(tokenizer.encode(text, add_special_tokens=False).ids)

    assert 0.6 < token_count(text) / counted < 2


# Context


def test_title_and_headings_are_read_before_the_text():
    piece = Piece(0, 5, "Text.", ("Guide", "Install"))

    assert piece.indexed_text("Manual") == "Manual > Guide > Install\n\nText."
    assert piece.indexed_text() == "Guide > Install\n\nText."
    assert Piece(0, 5, "Text.", ()).indexed_text() == "Text."


def test_a_title_that_is_also_the_heading_is_read_once():
    assert Piece(0, 5, "Text.", ("Guide",)).indexed_text("Guide") == "Guide\n\nText."


def test_a_long_title_leaves_room_for_the_text():
    piece = Piece(0, 5, "Text.", ("标题" * 100,))

    assert token_count(piece.indexed_text("word " * 5_000)) < 70
    assert token_count(piece.indexed_text("标题" * 250)) < 70


def test_chunking_needs_no_django():
    script = "import sys, knowledge.text.chunking; sys.exit('django' in sys.modules)"

    assert run([sys.executable, "-c", script]).returncode == 0


def test_the_sizes_fit_each_other():
    assert TINY_TOKENS < TARGET_TOKENS < MAX_TOKENS < MODEL_TOKENS
