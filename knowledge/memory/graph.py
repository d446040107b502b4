"""Topological sort and cycles of a small graph in memory."""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def in_order(nodes: Iterable[Node], needs: Mapping[Node, Sequence[Node]]) -> list[Node]:
    """Each node after all that it needs, save within a circle; else in the order given."""
    placed: list[Node] = []
    entered: set[Node] = set()
    for root in nodes:
        way = [] if root in entered else [(root, iter(needs.get(root, ())))]
        entered.add(root)
        while way:
            node, rest = way[-1]
            following = next((each for each in rest if each not in entered), None)
            if following is None:
                placed.append(node)
                way.pop()
            else:
                entered.add(following)
                way.append((following, iter(needs.get(following, ()))))
    return placed


def circles(
    nodes: Sequence[Node], needs: Mapping[Node, Sequence[Node]], *, most: int
) -> list[list[Node]]:
    """Circles in which each node needs the next and the last the first.

    They are short ones, and every node that is in any circle is in one of these, unless there
    are more than are wanted.
    """
    found: list[list[Node]] = []
    named: set[Node] = set()
    for knot in _strongly_connected(nodes, needs):
        for node in knot:
            if len(found) == most:
                return found
            if node not in named:
                circle = _shortest_circle(node, needs, within=set(knot))
                named.update(circle)
                found.append(circle)
    return found


def _strongly_connected(
    nodes: Sequence[Node], needs: Mapping[Node, Sequence[Node]]
) -> Iterator[list[Node]]:
    """The strongly connected components: each member depends on every other, directly or not."""
    needed_by: dict[Node, list[Node]] = {}
    for node, needed in needs.items():
        for each in needed:
            needed_by.setdefault(each, []).append(node)
    entered: set[Node] = set()
    # Kosaraju: what is reachable backwards, in reverse order, is one component.
    for root in reversed(in_order(nodes, needs)):
        knot = [] if root in entered else _reachable_from(root, needed_by, entered)
        if len(knot) > 1:
            yield knot


def _reachable_from(
    root: Node, edges: Mapping[Node, Sequence[Node]], entered: set[Node]
) -> list[Node]:
    reached, entered_here = [root], deque([root])
    entered.add(root)
    while entered_here:
        for each in edges.get(entered_here.popleft(), ()):
            if each not in entered:
                entered.add(each)
                reached.append(each)
                entered_here.append(each)
    return reached


def _shortest_circle(
    start: Node, needs: Mapping[Node, Sequence[Node]], *, within: set[Node]
) -> list[Node]:
    came_from: dict[Node, Node] = {}
    waiting = deque([start])
    while start not in came_from:
        node = waiting.popleft()
        for each in needs.get(node, ()):
            if each in within and each not in came_from:
                came_from[each] = node
                waiting.append(each)
    circle = [came_from[start]]
    while circle[-1] != start:
        circle.append(came_from[circle[-1]])
    return circle[::-1]
