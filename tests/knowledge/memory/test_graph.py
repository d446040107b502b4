from hypothesis import given
from hypothesis import strategies as st

from knowledge.memory.graph import circles, in_order

Graph = dict[int, list[int]]

graphs = st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), unique=True, max_size=4))


def reachable(needs: Graph, start: int) -> set[int]:
    found: set[int] = set()
    waiting = list(needs.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += needs.get(node, ())
    return found


@given(graphs)
def test_what_is_needed_comes_first_unless_it_is_in_a_circle(needs: Graph) -> None:
    order = in_order(sorted(needs), needs)
    assert len(order) == len(set(order))
    assert set(needs) <= set(order)
    for node, needed in needs.items():
        for each in needed:
            if node not in reachable(needs, each):
                assert order.index(each) < order.index(node)


@given(graphs)
def test_every_node_of_a_circle_is_in_one_that_is_named(needs: Graph) -> None:
    needs = {node: [each for each in needed if each != node] for node, needed in needs.items()}
    found = circles(sorted(needs), needs, most=99)
    assert {n for circle in found for n in circle} == {n for n in needs if n in reachable(needs, n)}
    for circle in found:
        assert len(circle) == len(set(circle)) > 1
        for node, following in zip(circle, [*circle[1:], circle[0]], strict=True):
            assert following in needs[node]


def test_without_needs_the_given_order_stays() -> None:
    assert in_order([3, 1, 2], {}) == [3, 1, 2]


def test_a_long_chain_needs_no_deep_stack() -> None:
    chain = {n: [n + 1] for n in range(5_000)}
    assert in_order([0], chain) == list(range(5_000, -1, -1))
    assert circles([0], chain, most=9) == []
    assert circles([0], chain | {5_000: [0]}, most=9) == [list(range(5_001))]


def test_no_more_circles_are_named_than_are_wanted() -> None:
    pairs = {n: [n ^ 1] for n in range(10)}
    assert circles(range(10), pairs, most=3) == circles(range(10), pairs, most=9)[:3]
