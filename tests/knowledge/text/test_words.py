"""What stands between blanks is read by itself, whatever stands around it."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

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
