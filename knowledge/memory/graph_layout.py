"""Where the nodes of a picture of a graph stand; the same graph always gives the same picture."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT, MARGIN = 960, 640, 64
ROUNDS = 250

Places = NDArray[np.float64]


def place_nodes(pull: Places) -> Places:
    """The nodes that have an edge in the middle, and the others along the lower edge."""
    joined = pull.any(axis=1)
    places = np.empty((len(pull), 2))
    if joined.any():
        places[joined] = _within_frame(_force_layout(pull[np.ix_(joined, joined)]))
    alone = int((~joined).sum())
    places[~joined, 0] = WIDTH * (np.arange(alone) + 1) / (alone + 1)
    places[~joined, 1] = HEIGHT - MARGIN
    return places


def _force_layout(pull: Places) -> Places:
    """Places on a plane: nodes with an edge draw together, all others keep apart."""
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


def separate_circles(places: Places, radii: Places) -> Places:
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
