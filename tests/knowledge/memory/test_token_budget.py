from hypothesis import given
from hypothesis import strategies as st

from knowledge.memory.token_budget import Entry, cut, pack_entries, turns
from knowledge.text.token_estimate import token_count

weights = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1)


@given(st.text(max_size=400), st.floats(3, 100))
def test_a_cut_text_is_a_beginning_within_its_tokens(text: str, tokens: float) -> None:
    shown = cut(text, tokens)
    assert token_count(shown) <= tokens + 1
    assert shown == text or text.startswith(shown.removesuffix("…"))


def test_a_text_that_fits_is_not_cut() -> None:
    assert cut("granite", 10) == "granite"
    assert cut("", 10) == ""


def test_words_are_cut_whole() -> None:
    assert cut("granite and marble and slate and chalk", 6) == "granite and marble…"


@given(st.integers(1, 50), weights, st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9)))
def test_places_go_by_weight_as_long_as_there_is_something_for_them(
    places: int, weights: dict[str, int], counts: dict[str, int]
) -> None:
    order = turns(places, weights, counts)
    there = {name: counts.get(name, 0) for name in weights}
    assert len(order) == min(places, sum(there.values()))
    for name in weights:
        taken = order.count(name)
        assert taken <= there[name]
        for other in weights:
            if order.count(other) and taken < there[name]:
                # Nobody was served while another, who weighs more for what it has, went without.
                assert weights[other] / order.count(other) >= weights[name] / (taken + 1)


def test_the_heaviest_begins_and_of_equals_the_first() -> None:
    assert turns(4, {"a": 1, "b": 2, "c": 1}, {"a": 9, "b": 9, "c": 9}) == ["b", "a", "b", "c"]


entries = st.lists(st.builds(Entry, st.sampled_from(["One", "Two"]), st.text(max_size=200)))


@given(entries, st.floats(10, 300))
def test_what_is_packed_never_exceeds_the_budget(entries: list[Entry], budget: float) -> None:
    text, kept = pack_entries("# Head", entries, headings=["Two", "One"], budget=budget)
    assert token_count(text) <= budget
    assert kept == sorted(set(kept))
    for number in kept:
        assert entries[number].text in text


def test_an_entry_that_does_not_fit_leaves_its_room_to_later_ones() -> None:
    long, short = Entry("One", "word " * 200), Entry("Two", "- short")
    text, kept = pack_entries("# Head", [long, short, short], headings=["One", "Two"], budget=40)
    assert kept == [1, 2]
    assert text == "# Head\n\n## Two\n- short\n- short"
