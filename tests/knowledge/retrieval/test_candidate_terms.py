from itertools import chain, combinations

from hypothesis import given
from hypothesis import strategies as st

from knowledge.retrieval.candidate_terms import Word, candidates_query

shares = st.lists(st.floats(1e-6, 0.9), min_size=1, max_size=7)


def words(given_shares: list[float]) -> list[Word]:
    return [Word(f"'w{n}'", share) for n, share in enumerate(given_shares)]


def test_one_rare_word_is_enough_when_it_brings_too_few() -> None:
    assert candidates_query(words([0.0001]), 1000) == "('w0')"


def test_common_words_are_asked_for_together_and_rare_ones_alone() -> None:
    query = candidates_query(words([0.001, 0.1, 0.1, 0.5]), 1_000_000)
    assert "('w1' & 'w2')" in query or "('w0')" in query
    assert "('w3')" not in query
    assert "('w1') " not in query


def test_a_small_scope_takes_every_word() -> None:
    query = candidates_query(words([0.01, 0.2]), 1_000)
    assert query.split(" | ") == ["('w0')", "('w1')"] or query == "('w0') | ('w1')"


@given(shares, st.integers(1, 10_000_000))
def test_the_query_takes_the_weightiest_combinations_and_no_lighter_one(
    given_shares: list[float], chunks: int
) -> None:
    asked = words(given_shares)
    query = candidates_query(asked, chunks)
    accepted = [set(part.strip("()").split(" & ")) for part in query.split(" | ")]

    def is_taken(combination: tuple[Word, ...]) -> bool:
        have = {word.query for word in combination}
        return any(part <= have for part in accepted)

    every = chain.from_iterable(combinations(asked, size) for size in range(1, len(asked) + 1))
    weighed = sorted(
        ((sum(word.weight for word in each), is_taken(each)) for each in every), reverse=True
    )
    assert weighed[0][1]
    lightest_taken = min(weight for weight, taken in weighed if taken)
    missed = [weight for weight, taken in weighed if not taken and weight > lightest_taken + 1e-9]
    assert missed == []
