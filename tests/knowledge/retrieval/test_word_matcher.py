"""A query's words are found as one pattern of them all would find them."""

from hypothesis import given
from hypothesis import strategies as st

from knowledge.retrieval.word_matcher import WordMatcher

PIECES = (
    *("decide", "Decided", "DECISION", "dec", "c++", "C", "foo_bar.baz", "foo_", "_", "-32605"),
    *("v1.2.3", "12", "straße", "Öl", "öl", "ſold", "sold", "K", "k", "İs", "is", "ısı", "日本"),
    *(" ", " ", ". ", "\n", "’", "—", "e\u0301", "x"),
)
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
queries = st.lists(st.one_of(st.sampled_from(PIECES), texts), max_size=6)


@given(texts, queries, st.integers(0, 40), st.integers(0, 80))
def test_words_are_found_as_by_one_pattern(
    text: str, words: list[str], start: int, stop: int
) -> None:
    matcher = WordMatcher([word for word in words if word])
    by_pattern = matcher._pattern.finditer(text, start, stop) if any(words) else ()
    assert list(matcher.find_all(text, start, stop)) == [each.span() for each in by_pattern]


def test_a_word_repeated_without_a_blank_is_read_once() -> None:
    text = "granite_" * 50_000
    assert list(WordMatcher(["granite"]).find_all(text)) == [(0, len(text))]
