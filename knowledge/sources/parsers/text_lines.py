"""Where lines of text are, from how likely each pixel belongs to one.

The rules are PaddleOCR's, whose models these probabilities come from: of each patch of likely
pixels the smallest rectangle around it, made larger, as the model marks only the core of a line.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

Map = NDArray[np.float32]
Corners = NDArray[np.float64]
"""Four points (x, y): top left, top right, bottom right, bottom left."""

LIKELY = 0.3
LEAST_MEAN = 0.5
GROW = 1.6
"""How far a rectangle grows, in parts of its area over its perimeter."""
LEAST_SIDE = 3
MOST_PATCHES = 1_000


def find_lines(likelihood: Map) -> list[Corners]:
    """The corners of each line of text, in pixels of the map."""
    found = []
    for points in _patches(_widen(likelihood > LIKELY))[:MOST_PATCHES]:
        corners = smallest_rectangle(points)
        if min(_sides(corners)) < LEAST_SIDE or _mean_within(likelihood, corners) < LEAST_MEAN:
            continue
        found.append(_grow(corners))
    return found


def smallest_rectangle(points: NDArray[Any]) -> Corners:
    """The rectangle of the least area around points: one of its sides lies on their hull."""
    hull = np.array(_hull(points.tolist()), np.float64)
    if len(hull) == 1:
        return np.repeat(hull, 4, axis=0)
    along = np.roll(hull, -1, axis=0) - hull
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = along[:, ::-1] * (-1, 1)
    on_along, on_across = hull @ along.T, hull @ across.T
    lengths, heights = np.ptp(on_along, axis=0), np.ptp(on_across, axis=0)
    best = int(np.argmin(lengths * heights))
    corners = [
        x * along[best] + y * across[best]
        for y in (on_across[:, best].min(), on_across[:, best].max())
        for x in (on_along[:, best].min(), on_along[:, best].max())
    ]
    return _in_order(np.array(corners))


def _widen(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Each pixel with its neighbours to the right and below, so that thin gaps close."""
    wide = mask.copy()
    wide[1:] |= mask[:-1]
    wide[:, 1:] |= wide[:, :-1].copy()
    return wide


def _patches(mask: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Both ends of every row of each patch of touching pixels, corners included."""
    edges = np.diff(mask.astype(np.int8), axis=1, prepend=0, append=0)
    rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1] - 1
    parents = list(range(len(rows)))

    def root(run: int) -> int:
        while parents[run] != run:
            parents[run] = run = parents[parents[run]]
        return run

    for one, other in _touching(rows.tolist(), starts.tolist(), ends.tolist(), len(mask)):
        parents[root(other)] = root(one)
    patches: dict[int, list[tuple[int, int]]] = {}
    runs = zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True)
    for run, (row, start, end) in enumerate(runs):
        patches.setdefault(root(run), []).extend([(start, row), (end, row)])
    return [np.array(points) for points in patches.values()]


def _touching(
    rows: list[int], starts: list[int], ends: list[int], height: int
) -> Iterator[tuple[int, int]]:
    """Pairs of runs in neighbouring rows that touch."""
    first = np.searchsorted(rows, range(height + 1)).tolist()
    for (above, here), (_, after) in pairwise(pairwise(first)):
        one, other = above, here
        while one < here and other < after:
            if starts[one] <= ends[other] + 1 and starts[other] <= ends[one] + 1:
                yield one, other
            if ends[one] < ends[other]:
                one += 1
            else:
                other += 1


def _hull(points: list[list[float]]) -> list[list[float]]:
    """The corners of the convex hull, one after the other."""
    points = sorted(set(map(tuple, points)))  # type: ignore[arg-type]
    return points if len(points) < 3 else _half(points)[:-1] + _half(points[::-1])[:-1]


def _half(points: list[list[float]]) -> list[list[float]]:
    hull: list[list[float]] = []
    for point in points:
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    return hull


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _in_order(corners: Corners) -> Corners:
    """Top left, top right, bottom right, bottom left."""
    left, right = np.split(corners[np.argsort(corners[:, 0], kind="stable")], 2)
    top_left, bottom_left = left[np.argsort(left[:, 1])]
    top_right, bottom_right = right[np.argsort(right[:, 1])]
    return np.array([top_left, top_right, bottom_right, bottom_left])


def _sides(corners: Corners) -> tuple[float, float]:
    """Width and height."""
    width, height = corners[1] - corners[0], corners[3] - corners[0]
    return float(np.hypot(*width)), float(np.hypot(*height))


def _mean_within(likelihood: Map, corners: Corners) -> float:
    """The mean likelihood of the pixels within a rectangle."""
    low = np.clip(np.floor(corners.min(axis=0)), 0, None).astype(int)
    high = np.ceil(corners.max(axis=0)).astype(int) + 1
    part = likelihood[low[1] : high[1], low[0] : high[0]]
    mask = Image.new("1", part.shape[::-1])
    ImageDraw.Draw(mask).polygon([tuple(point) for point in (corners - low).tolist()], fill=1)
    return float(part[np.asarray(mask)].mean()) if mask.getbbox() else 0.0


def _grow(corners: Corners) -> Corners:
    width, height = _sides(corners)
    by = width * height * GROW / (2 * (width + height))
    along, down = (corners[1] - corners[0]) / width, (corners[3] - corners[0]) / height
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    grown: Corners = corners + by * (signs[:, :1] * along + signs[:, 1:] * down)
    return grown
