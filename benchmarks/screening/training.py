"""Learns the judge's weights from the committed cases, the same to the last bit on every run.

Logistic regression on hashed features, by L-BFGS. Every sum is numpy's own, so that no BLAS and no
number of threads changes a bit, and weights are rounded to a byte, which absorbs what is left.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from knowledge.screening import judging
from knowledge.screening.features import BITS
from knowledge.screening.judging import Judge, features_within, read

HERE = Path(__file__).parent
TAUGHT, HELD_OUT = HERE / "taught", HERE / "held_out"

ENOUGH, ENOUGH_OF_SCRAP, PER_DOUBLING = 0.6, 1.1, 1.2
"""From where on a passage is suspected; chosen on real texts that are not taught."""
STRENGTH = 0.015
"""How freely weights may grow to fit the cases."""
RARITY = 3.0
"""Features count by this power of their inverse document frequency."""
STEPS, FIRST_KEPT, MEMORY = 36, 12, 8
"""The mean of the later steps is kept, as a single one happens to alarm on some sort of text."""
LARGEST = 0.9999
"""This quantile of the weights fills a byte; the few beyond it are cut, so that steps are finer."""
PROBES = 10
"""So many cases of each file are read for the fingerprint of how texts are read."""

Vector = np.ndarray[Any, np.dtype[np.float64]]
Loss = Callable[[Vector], tuple[float, Vector]]


class Case(NamedTuple):
    """One written case."""

    text: str
    kind: str
    where: str


class Rows(NamedTuple):
    """A sparse matrix: which row, which feature, and how strong, each pair once."""

    rows: np.ndarray[Any, Any]
    features: np.ndarray[Any, Any]
    strengths: Vector
    texts: int
    """How many rows there are."""


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, or of every file of a folder."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return [
        Case(line["text"], line["kind"], file.stem)
        for file in files
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]


def train(cases: Sequence[Case]) -> Judge:
    """What was learned, with weights that fit in a byte each."""
    known = [case for case in cases if case.kind in ("injection", "harmless")]
    is_order = np.array([case.kind == "injection" for case in known])
    weights, bias = _fit(_rows([case.text for case in known]), is_order)
    return Judge(weights, bias, ENOUGH, ENOUGH_OF_SCRAP, PER_DOUBLING)


def save(judge: Judge, path: Path = judging.WEIGHTS) -> None:
    used = np.abs(judge.weights[judge.weights != 0])
    scale = np.float32(np.quantile(used, LARGEST) / 127)
    np.savez_compressed(
        path,
        weights=np.clip(np.rint(judge.weights / scale), -127, 127).astype(np.int8),
        scale=scale,
        bias=np.float32(judge.bias),
        enough=np.float32(judge.enough),
        enough_of_scrap=np.float32(judge.enough_of_scrap),
        per_doubling=np.float32(judge.per_doubling),
        fingerprint=np.array(fingerprint()),
    )


def fingerprint(taught: Path = TAUGHT) -> str:
    """SHA-256 of all that the weights depend on: the cases, how texts are read, how is learned."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update(
        repr((judging.SHARES, judging.FEWEST, judging.WHOLE, judging.WINDOW, BITS)).encode()
    )
    for file in sorted(taught.glob("*.jsonl")):
        digest.update(file.name.encode() + file.read_bytes())
        for case in read_cases(file)[:PROBES]:
            reading = read(case.text)
            digest.update(repr(reading.spans).encode())
            for feature in reading.features:
                digest.update(feature.numbers.tobytes())
    return digest.hexdigest()


def _rows(texts: Sequence[str]) -> Rows:
    parts = [part for at, text in enumerate(texts) for part in _features_of(at, text)]
    rows, features, strengths = (np.concatenate(column) for column in zip(*parts, strict=True))
    pairs, places = np.unique(rows.astype(np.int64) << BITS | features, return_inverse=True)
    sums = np.bincount(places, strengths).astype(np.float64)
    return Rows(pairs >> BITS, pairs & ((1 << BITS) - 1), sums, len(texts))


def _features_of(at: int, text: str) -> Iterator[tuple[Any, Any, Any]]:
    reading = read(text)
    for feature, first, after, strength in features_within(
        reading, reading.passages(is_short=True)
    ):
        numbers = feature.numbers[first[0] : after[0]]
        count = len(numbers)
        yield np.full(count, at, np.int32), numbers.astype(np.int32), np.full(count, strength[0])


def _fit(given: Rows, is_order: np.ndarray[Any, Any]) -> tuple[Vector, float]:
    rarity = _rarity(given)
    strengths = given.strengths * rarity[given.features]
    counts = strengths > 0
    used, columns = np.unique(given.features[counts], return_inverse=True)
    kept = Rows(given.rows[counts], columns, strengths[counts], given.texts)
    fitted = _minimise(_loss(kept, is_order, len(used)), len(used) + 1)
    weights = np.zeros(1 << BITS)
    weights[used] = fitted[:-1] * rarity[used]
    return weights, float(fitted[-1])


def _rarity(given: Rows) -> Vector:
    """How much a feature counts: the more, the fewer texts have it, but nothing if only one has."""
    having = np.bincount(given.features, minlength=1 << BITS)
    rarity = (np.log((1 + given.texts) / (1 + having)) + 1) ** RARITY
    rarity[having < 2] = 0
    return rarity


def _loss(given: Rows, is_order: np.ndarray[Any, Any], width: int) -> Loss:
    """The regularised logistic loss and its gradient; both kinds weigh the same in all."""
    orders = int(is_order.sum())
    share = np.where(
        is_order, given.texts / (2 * orders), given.texts / (2 * (given.texts - orders))
    )
    cost, sign = STRENGTH * share, np.where(is_order, 1.0, -1.0)

    def loss(weights: Vector) -> tuple[float, Vector]:
        products = given.strengths * weights[given.features]
        margins = sign * (np.bincount(given.rows, products, given.texts) + weights[-1])
        pull = -cost * sign * np.exp(-np.logaddexp(0, margins))
        gradient = weights.copy()
        gradient[:width] += np.bincount(given.features, given.strengths * pull[given.rows], width)
        gradient[-1] += np.sum(pull)
        total = np.sum(cost * np.logaddexp(0, -margins)) + np.sum(weights * weights) / 2
        return float(total), gradient

    return loss


def _minimise(loss: Loss, size: int) -> Vector:
    """L-BFGS with a backtracking line search: the mean of the later of a fixed number of steps."""
    at, total = np.zeros(size), np.zeros(size)
    value, gradient = loss(at)
    moves: list[tuple[Vector, Vector]] = []
    for number in range(STEPS):
        step = _direction(gradient, moves)
        slope, length = float(np.sum(gradient * step)), 1.0
        while True:
            there = at - length * step
            next_value, next_gradient = loss(there)
            if next_value <= value - 1e-4 * length * slope or length < 1e-6:
                break
            length /= 2
        moves = [*moves, (there - at, next_gradient - gradient)][-MEMORY:]
        at, value, gradient = there, next_value, next_gradient
        if number >= FIRST_KEPT:
            total += at
    return total / (STEPS - FIRST_KEPT)


def _direction(gradient: Vector, moves: Sequence[tuple[Vector, Vector]]) -> Vector:
    if not moves:
        return gradient / float(np.sqrt(np.sum(gradient * gradient)))
    step, shares = gradient.copy(), []
    for moved, turned in reversed(moves):
        shares.append(np.sum(moved * step) / np.sum(moved * turned))
        step -= shares[-1] * turned
    moved, turned = moves[-1]
    step *= np.sum(moved * turned) / np.sum(turned * turned)
    for (moved, turned), share in zip(moves, reversed(shares), strict=True):
        step += moved * (share - np.sum(turned * step) / np.sum(moved * turned))
    return step
