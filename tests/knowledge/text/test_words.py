"""What stands between blanks is read by itself, whatever stands around it."""

import math
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.text.languages import language_of
from knowledge.text.token_estimate import TokenRuler, token_count
from knowledge.text.words import identifiers, words_of

ODD = [
    *(
        "camelCase",
        "HTTPServer",
        "ABc",
        "abcD",
        "v1.2.3",
        "foo_bar",
        "a/b",
        "c++",
        "C#",
        "~/x",
        "-",
    ),
    *("私は学生です", "東京", "カ・タ", "、", "ΟΔΟΣ", "Σ", "ς", "İ", "ẞ", "ß", "ǅ", "ﬁ", "e\u0301"),
    *("\u200c", "\u200d", "\u00ad", "\ufeff", "'", "’", "«", "»", "(", ")", ".", ":", "…", "@"),
    *(" ", "\n", "\t", "\x1c", "\x1f", "\x85", "\xa0", "\u1680", "\u2028", "\u3000", "\u180e"),
]
texts = st.lists(st.one_of(st.sampled_from(ODD), st.characters(codec="utf-8")), max_size=30).map(
    "".join
)


@given(texts)
def test_words_are_those_of_each_token_by_itself(text: str) -> None:
    assert words_of(text) == list(chain.from_iterable(map(words_of, text.split())))


@given(texts)
def test_names_are_those_of_each_token_by_itself(text: str) -> None:
    by_token = chain.from_iterable(map(identifiers, text.split()))
    assert identifiers(text) == list(dict.fromkeys(by_token))


@pytest.mark.parametrize("run", ["ภาษาไทย", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ", "ひらがな", "中文字"])
def test_scripts_without_blanks_are_read_in_pairs_of_characters(run: str) -> None:
    assert words_of(run) == [run[at : at + 2] for at in range(len(run) - 1)]


@pytest.mark.parametrize(
    ("text", "language"),
    [("مرحبا بكم", "ar"), ("สวัสดี", "th"), ("x = foo(bar)", "en"), ("", "en")],
)
def test_a_short_text_of_another_script_takes_the_language_that_is_guessed(
    text: str, language: str
) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["the cat sat on the mat", "a boundary layer in supersonic flow"])
def test_capitals_are_measured_as_the_model_reads_them(text: str) -> None:
    assert 1.2 < token_count(text.upper()) / token_count(text) < 2.6


@given(st.text(max_size=60) | st.text("aB1 \u00e9\u3042.", max_size=300), st.floats(0, 200))
def test_what_is_short_is_not_measured_and_comes_out_alike(text: str, tokens: float) -> None:
    ruler, measured = TokenRuler(text), TokenRuler(text)
    measured._highest = math.inf
    assert ruler.is_over(tokens, 0, len(text)) == measured.is_over(tokens, 0, len(text))
    assert ruler.reach(0, tokens) == measured.reach(0, tokens)


@given(st.text() | st.text("aB1 \u00e9."))
def test_no_character_costs_more_than_a_short_text_is_taken_to(text: str) -> None:
    assert token_count(text) <= len(text) * TokenRuler(text)._highest
