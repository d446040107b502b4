"""A picture of who vouches for whom: where each agent stands, and the lines between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any

import numpy as np

from knowledge.memory.graph_layout import (
    HEIGHT,
    WIDTH,
    Places,
    place_nodes,
    separate_circles,
)

SMALLEST, LARGEST = 7, 26
BEND = 0.16
"""How far a line leaves the straight way, as a share of it: so that two opposite ones are two."""


@dataclass(frozen=True, slots=True)
class Vote:
    """All that one agent said of another's work, of one kind."""

    validator: str
    contributor: str
    valid: bool
    count: int


@dataclass(frozen=True, slots=True)
class Node:
    agent_id: str
    score: float
    is_trusted: bool
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Edge:
    vote: Vote
    path: str
    width: float


@dataclass(frozen=True, slots=True)
class Picture:
    nodes: list[Node]
    edges: list[Edge]
    width: int = WIDTH
    height: int = HEIGHT


def draw(agents: Sequence[Any], votes: Sequence[Vote]) -> Picture:
    """The same agents and votes always give the same picture."""
    at = {agent.agent_id: number for number, agent in enumerate(agents)}
    votes = [vote for vote in votes if {vote.validator, vote.contributor} <= at.keys()]
    pull = np.zeros((len(agents), len(agents)))
    for vote in votes:
        one, other = at[vote.validator], at[vote.contributor]
        pull[one, other] = pull[other, one] = 1.0
    radii = [_radius(agent.score) for agent in agents]
    places = separate_circles(place_nodes(pull), np.array(radii))
    nodes = [
        Node(agent.agent_id, agent.score, agent.is_trusted, *_round_place(place), radius)
        for agent, place, radius in zip(agents, places, radii, strict=True)
    ]
    edges = [_edge(vote, nodes[at[vote.validator]], nodes[at[vote.contributor]]) for vote in votes]
    return Picture(nodes, edges)


def _round_place(place: Places) -> tuple[float, float]:
    return round(float(place[0]), 1), round(float(place[1]), 1)


def _radius(score: float) -> float:
    """By area, so that twice the score looks like twice as much."""
    return round(SMALLEST + (LARGEST - SMALLEST) * sqrt(min(1.0, max(0.0, score))), 1)


def _edge(vote: Vote, start: Node, end: Node) -> Edge:
    """A bent line from rim to rim, with room for the arrow's head."""
    across, down = end.x - start.x, end.y - start.y
    length = max(hypot(across, down), 1.0)
    bend = BEND if vote.valid else -BEND / 2
    middle_x = (start.x + end.x) / 2 - down * bend
    middle_y = (start.y + end.y) / 2 + across * bend
    begin = _towards(start, middle_x, middle_y, start.radius)
    finish = _towards(end, middle_x, middle_y, end.radius + min(6, length / 4))
    path = f"M{begin} Q{middle_x:.1f},{middle_y:.1f} {finish}"
    return Edge(vote, path, round(min(4.0, 1 + sqrt(vote.count) / 3), 1))


def _towards(node: Node, x: float, y: float, by: float) -> str:
    across, down = x - node.x, y - node.y
    share = by / max(hypot(across, down), 1.0)
    return f"{node.x + across * share:.1f},{node.y + down * share:.1f}"
