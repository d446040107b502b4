"""A picture of who vouches for whom: where each agent stands, and the lines between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT, MARGIN = 960, 640, 64
SMALLEST, LARGEST = 7, 26
ROUNDS = 250
BEND = 0.16
"""How far a line leaves the straight way, as a share of it: so that two opposite ones are two."""

Places = NDArray[np.float64]


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
    places = _separate_circles(_place_nodes(pull), np.array(radii))
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


def _place_nodes(pull: Places) -> Places:
    """Those who judge or are judged in the middle, and the others along the lower edge."""
    joined = pull.any(axis=1)
    places = np.empty((len(pull), 2))
    if joined.any():
        places[joined] = _within_frame(_force_layout(pull[np.ix_(joined, joined)]))
    alone = int((~joined).sum())
    places[~joined, 0] = WIDTH * (np.arange(alone) + 1) / (alone + 1)
    places[~joined, 1] = HEIGHT - MARGIN
    return places


def _force_layout(pull: Places) -> Places:
    """Places on a plane: those who judge each other draw together, all others keep apart."""
    count = len(pull)
    turn = np.linspace(0, 2 * np.pi, count, endpoint=False)
    places = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ideal = 1.4 / sqrt(max(1, count))
    for heat in np.linspace(0.15, 0.005, ROUNDS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-4)
        force = ideal**2 / distance**2 - pull * distance / ideal
        move = (apart * force[..., None]).sum(axis=1) - 0.35 * places
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        places = places + move / length * np.minimum(length, heat)
    return places


def _within_frame(places: Places) -> Places:
    """Half by distance and half by rank, so that one far away leaves room for the others."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.maximum(high - low, 1e-6)
    frame = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    spread = np.where(high - low < 1e-6, 0.5, (places - low) / span)
    ranks = (places.argsort(axis=0).argsort(axis=0) + 0.5) / len(places)
    framed: Places = MARGIN + (spread + ranks) / 2 * frame
    return framed


def _separate_circles(places: Places, radii: Places) -> Places:
    """Push circles that overlap off each other, and none out of the frame."""
    needed = radii[:, None] + radii[None] + 8
    for _ in range(40):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-4)
        overlap = np.maximum(needed - distance, 0)
        np.fill_diagonal(overlap, 0)
        places = places + (apart / distance[..., None] * overlap[..., None] / 2).sum(axis=1)
        # Below each stands its name.
        places = np.clip(places, MARGIN / 2, [WIDTH - MARGIN / 2, HEIGHT - MARGIN * 3 / 4])
    return places


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
