from hypothesis import given
from hypothesis import strategies as st

from knowledge.retrieval.passages import (
    LEAST,
    LONGEST,
    SHORT,
    Passage,
    say_the_same,
    word_pairs,
)
from knowledge.retrieval.passages import best_passage as passage_of
from knowledge.retrieval.word_matcher import WordMatcher


def best_passage(text: str, words: list[str]) -> Passage:
    return passage_of(text, WordMatcher(words))


FILLER = "Nothing of interest is said in this sentence at all. " * 12


def test_the_sentence_with_the_querys_words_is_shown_whole() -> None:
    text = FILLER + "The zyzzyva weevil was found in Brazil. " + FILLER
    passage = best_passage(text, ["weevil", "brazil"])
    assert "The zyzzyva weevil was found in Brazil." in passage.text
    assert passage.text.startswith("…")
    assert passage.text.endswith("…")
    assert len(passage.text) <= LONGEST + 2


def test_sentences_that_share_the_words_are_shown_together_and_no_more_than_these() -> None:
    apart = f"Feldspar is a mineral. {FILLER[:300]} Basalt has none. "
    both = best_passage(FILLER + apart + FILLER, ["feldspar", "basalt"]).text
    assert both.startswith("…Feldspar is")
    assert both.endswith("Basalt has none.…")
    one = best_passage(FILLER + apart + FILLER, ["basalt"]).text
    assert "Basalt has none." in one
    assert len(one) <= LEAST + 2


def test_a_short_text_and_one_without_the_words_are_shown_up_to_the_same_length() -> None:
    short = "Basalt is dark. " + "It is found here. " * 18
    assert len(short) < SHORT
    assert best_passage(short, ["basalt"]).text == short.strip()
    unsaid = best_passage(FILLER, ["basalt"]).text
    assert LEAST < len(unsaid) <= SHORT + 2


def test_a_text_without_the_words_is_shown_from_its_beginning() -> None:
    lit = "Lamps on the pier are lit at dusk by a clock. " * 6
    text = f"{lit}Not so. {'In summer a keeper used to sit beside each of them. ' * 6}"
    assert best_passage(text, ["zinc"]).text.startswith("Lamps")


def test_every_form_of_a_word_is_highlighted_and_nothing_else() -> None:
    passage = best_passage("Decisions were decided; the decider decides. A decade.", ["decide"])
    marked = [passage.text[start:end] for start, end in passage.highlights]
    assert marked == ["Decisions", "decided", "decider", "decides"]


def test_codes_and_short_words_are_highlighted_as_they_stand() -> None:
    codes = ["-32605", "foo_bar.baz", "v1.2.3"]
    passage = best_passage("Error -32605 in foo_bar.baz() at v1.2.3, not v1.2.34.", codes)
    marked = [passage.text[start:end] for start, end in passage.highlights]
    assert marked == codes


def test_one_endless_sentence_is_cut_around_its_match() -> None:
    text = "word " * 300 + "zyzzyva " + "word " * 300
    passage = best_passage(text, ["zyzzyva"])
    assert "zyzzyva" in passage.text
    assert len(passage.text) <= LONGEST + 2


def test_a_passage_begins_at_the_part_of_its_source_with_most_of_the_words() -> None:
    text = "Chalk is soft.\n\nFeldspar and chalk are found here.\n\nThe end."
    breaks = [text.index("Feldspar"), text.index("The end")]
    passage = passage_of(text, WordMatcher(["feldspar", "chalk"]), breaks=breaks)
    assert (passage.text, passage.start) == (text, breaks[0])
    assert passage_of(text, WordMatcher(["marble"]), breaks=breaks).start == 0
    long = FILLER + text + FILLER
    later = [len(FILLER), *(len(FILLER) + place for place in breaks)]
    assert passage_of(long, WordMatcher(["feldspar"]), breaks=later).start == later[1]


@given(st.text(max_size=2000), st.lists(st.text(min_size=1, max_size=20), max_size=5))
def test_any_text_and_any_words_give_a_passage_with_spans_inside(
    text: str, words: list[str]
) -> None:
    passage = best_passage(text, words)
    assert len(passage.text) <= LONGEST + 2
    assert all(0 <= start <= end <= len(passage.text) for start, end in passage.highlights)


def test_near_duplicates_say_the_same_and_others_do_not() -> None:
    text = "The quick brown fox jumps over the lazy dog near the old river bank today."
    one = word_pairs(text)
    assert say_the_same(one, word_pairs(text.replace("today", "now")))
    assert not say_the_same(one, word_pairs("A wholly different sentence about granite."))
    assert not say_the_same(one, word_pairs(text + " " + text.replace("the", "a")))
