"""How well screening tells orders to a model from honest texts; `--train` learns its weights anew.

Each file of cases is by another hand. A hand is measured with weights learned from all the others,
so that nothing is judged by what it has taught.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import harness
from knowledge.screening import screen
from knowledge.screening.injection import SCRAP, find_guises, parts_of, spoken_in
from knowledge.screening.judging import WEIGHTS, Judge, strengths_of
from knowledge.screening.reading import ideas_of
from knowledge.screening.traits import BITS, Reading, Traits

TAUGHT = Path("tests/screening/cases/taught")
FALSE_ALARMS = 0.028
"""How many of the honest cases may be suspected, which decides from where on a text is.

They were written to be mistaken for orders; of what people write every day it is far fewer.
"""
MINED, ROUNDS = 600, 2
"""So many passages of real texts, those most like orders, are taught as honest, so many times."""
IN_PART = 5e-5
"""How many of the passages of real texts may be suspected; a long text has a hundred of them."""
STRENGTH = 1.0
"""How freely weights may grow to fit the cases; scikit-learn's C."""


class Case(NamedTuple):
    """One written case."""

    text: str
    is_order: bool
    hand: str


class Learned(NamedTuple):
    """A weight for each trait, and where nothing would stand."""

    weights: Any
    bias: float

    def judged(self, traits: Any) -> Any:
        return traits @ self.weights + self.bias


def main() -> None:
    options = harness.parser(__doc__)
    options.add_argument("--cases", type=Path, default=TAUGHT, help="a folder, one file a hand")
    options.add_argument("--unseen", type=Path, nargs="*", default=[], help="cases to measure with")
    options.add_argument("--prose", type=Path, nargs="*", default=[], help="files of honest texts")
    options.add_argument("--train", action="store_true", help="keep the weights that were learned")
    chosen = options.parse_args()
    harness.require("sklearn", "scipy")
    tables = {"as it is": [_as_it_is(path) for path in chosen.unseen]}
    if chosen.train or not chosen.unseen:
        tables["each hand"] = _learn(chosen.cases, chosen.prose, keep=chosen.train)
    for title, rows in tables.items():
        if rows:
            harness.show(f"Screening, {title}", rows)
    harness.write_json(chosen, tables)


def _as_it_is(path: Path) -> harness.Row:
    """The screening that is in service, on cases that it was not taught."""
    cases = _cases(path)
    alarms = [bool(screen(case.text).findings) for case in cases]
    return _row(path.stem, cases, alarms)


def _row(hand: str, cases: Sequence[Case], alarms: Iterable[bool]) -> harness.Row:
    found = list(zip(cases, alarms, strict=True))
    orders = [alarm for case, alarm in found if case.is_order]
    honest = [alarm for case, alarm in found if not case.is_order]
    return {
        "hand": hand,
        "orders": len(orders),
        "found %": 100 * np.mean(orders) if orders else np.nan,
        "honest": len(honest),
        "false alarms %": 100 * np.mean(honest),
    }


def _cases(path: Path) -> list[Case]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Case(line["text"], line["kind"] == "injection", path.stem)
        for line in lines
        if line["kind"] in ("injection", "harmless")
    ]


# Learning ------------------------------------------------------------------------------------


def _learn(folder: Path, prose: Sequence[Path], *, keep: bool) -> list[harness.Row]:
    cases = [case for path in sorted(folder.glob("*.jsonl")) for case in _cases(path)]
    is_order = np.array([case.is_order for case in cases])
    hands = np.array([case.hand for case in cases])
    traits = _matrix([_traits(case.text) for case in cases])
    # What a rule finds teaches nothing but that dumps and comments are suspicious.
    first = _fitted(traits, is_order, traits[:0])
    by = Judge(first.weights, first.bias, 0.0, 0.0, 0.0)
    in_guise = np.array([any(find_guises(case.text, by)) for case in cases])
    taught, held_out = _passages_of(prose)
    mined = _mined(traits[~in_guise], is_order[~in_guise], taught)
    judged = np.zeros(len(cases))
    for hand in sorted(set(hands)):
        own, others = hands == hand, (hands != hand) & ~in_guise
        judged[own] = _fitted(traits[others], is_order[others], mined).judged(traits[own])
    is_scrap = np.array([len(case.text) < SCRAP for case in cases])
    honest = ~is_order & ~in_guise
    enough, of_scrap = (
        float(np.quantile(judged[honest & of], 1 - FALSE_ALARMS)) for of in (~is_scrap, is_scrap)
    )
    alarms = in_guise | (judged > np.where(is_scrap, of_scrap, enough))
    if keep:
        learned = _fitted(traits[~in_guise], is_order[~in_guise], mined)
        _keep(learned, enough, of_scrap, held_out)
    return [
        _row(hand, [case for case in cases if case.hand == hand], alarms[hands == hand])
        for hand in sorted(set(hands))
    ] + [_row("all", cases, alarms)]


def _passages_of(prose: Sequence[Path]) -> tuple[Any, Any]:
    """The passages of honest texts: some to teach with, others to measure with."""
    found: list[list[Traits]] = [[], []]
    for path in prose:
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            said = [sentence.words for sentence in spoken_in(json.loads(line)["text"])]
            reading = _reading(said)
            # Whole stretches of a file go one way, as neighbours in it are often alike.
            found[at // 20 % 3 == 0] += map(reading.of, parts_of([len(one) for one in said]))
    return _matrix(found[0]), _matrix(found[1])


def _mined(traits: Any, is_order: Any, prose: Any) -> Any:
    """Those passages of honest texts that are most like orders, again and again."""
    chosen = np.zeros(prose.shape[0], bool)
    for _ in range(ROUNDS if len(chosen) else 0):
        judged = _fitted(traits, is_order, prose[chosen]).judged(prose)
        judged[chosen] = -np.inf
        chosen[np.argsort(-judged)[:MINED]] = True
    return prose[chosen]


def _traits(text: str) -> Traits:
    return _reading([sentence.words for sentence in spoken_in(text)]).of(slice(None))


def _reading(said: Sequence[str]) -> Reading:
    return Reading(said, [ideas_of(sentence) for sentence in said])


def _matrix(texts: Sequence[Traits]) -> Any:
    """A row for each text, a column for each trait."""
    from scipy.sparse import csr_matrix

    shape = (len(texts), 1 << BITS)
    if not texts:
        return csr_matrix(shape)
    parts = list(strengths_of(texts))
    places, numbers, strengths = (np.concatenate(column) for column in zip(*parts, strict=True))
    return csr_matrix((strengths, (places, numbers)), shape=shape)


def _fitted(traits: Any, is_order: Any, honest: Any) -> Learned:
    """Logistic regression on traits that count far more, the fewer texts have them."""
    from scipy.sparse import diags, vstack
    from sklearn.linear_model import LogisticRegression

    traits = vstack([traits, honest]).tocsr()
    is_order = np.concatenate([is_order, np.zeros(honest.shape[0], bool)])
    having = np.asarray((traits > 0).sum(axis=0)).ravel()
    rarity = (np.log((1 + len(is_order)) / (1 + having)) + 1) ** 2
    rarity[having < 2] = 0  # what one text alone has says nothing of others
    model = LogisticRegression(
        C=STRENGTH, solver="liblinear", dual=True, max_iter=1000, class_weight="balanced",
        random_state=0,
    ).fit(traits @ diags(rarity), is_order)  # fmt: skip
    return Learned(model.coef_[0] * rarity, float(model.intercept_[0]))


def _keep(learned: Learned, enough: float, of_scrap: float, held_out: Any) -> None:
    """In a byte a weight, which tells texts apart as well as eight do."""
    judged = learned.judged(held_out) if held_out.shape[0] else np.array([enough])
    in_part = max(enough, float(np.quantile(judged, 1 - IN_PART)))
    alarms = float(np.mean(judged > enough))
    print(f"Enough: {enough:.2f}; of {len(judged)} passages of real texts {alarms:.3%} have it.")
    print(f"Of a scrap: {of_scrap:.2f}; of one part of many: {in_part:.2f}.")
    scale = np.abs(learned.weights).max() / 127
    np.savez_compressed(
        WEIGHTS,
        weights=np.rint(learned.weights / scale).astype(np.int8),
        scale=np.float32(scale),
        bias=np.float32(learned.bias),
        enough=np.float32(enough),
        enough_of_scrap=np.float32(max(enough, of_scrap)),
        enough_in_part=np.float32(in_part),
    )


if __name__ == "__main__":
    main()
