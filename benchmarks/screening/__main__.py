"""`train` learns the weights of the screening; `measure` tells what it finds in cases."""

import hashlib
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from benchmarks import harness
from benchmarks.screening.training import HELD_OUT, TAUGHT, Case, read_cases, save, train
from knowledge.screening import Verdict, screen
from knowledge.screening.judging import WEIGHTS


def main() -> None:
    options = ArgumentParser(prog="python -m benchmarks.screening", description=__doc__)
    tasks = options.add_subparsers(dest="task", required=True)
    tasks.add_parser("train", help="learn the weights from the committed cases, and save them")
    measuring = tasks.add_parser("measure", help="screen cases, and count what is found in them")
    measuring.add_argument(
        "cases", type=Path, nargs="*", default=[HELD_OUT], help="files or folders"
    )
    measuring.add_argument("--misses", action="store_true", help="print what was misjudged")
    measuring.add_argument("--json", type=Path, help="where to write the results")
    measuring.set_defaults(small=False)
    chosen = options.parse_args()
    if chosen.task == "train":
        _train()
        return
    cases = [case for path in chosen.cases for case in read_cases(path)]
    if not cases:
        sys.exit("There are no cases in it: JSON lines with `kind` and `text`.")
    rows = _measure(cases, show_misses=chosen.misses)
    harness.show("Screening", rows)
    harness.write_json(chosen, {"screening": rows})


def _train() -> None:
    began = time.monotonic()
    cases = read_cases(TAUGHT)
    save(train(cases))
    digest = hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()
    print(f"Learned from {len(cases)} cases in {time.monotonic() - began:.0f} s.")
    print(f"{WEIGHTS.name}: sha256 {digest}")


def _measure(cases: Sequence[Case], *, show_misses: bool) -> list[harness.Row]:
    """For each file and kind: how many texts were found to be of that kind."""
    verdicts = [screen(case.text) for case in cases]
    rows = []
    for where, kind in sorted({(case.where, case.kind) for case in cases}):
        found = [
            _is_found(case.kind, verdict)
            for case, verdict in zip(cases, verdicts, strict=True)
            if (case.where, case.kind) == (where, kind)
        ]
        share = 100 * sum(found) / len(found)
        rows.append({"file": where, "kind": kind, "texts": len(found), "found %": share})
    for case, verdict in zip(cases, verdicts, strict=True):
        if show_misses and _is_found(case.kind, verdict) == (case.kind == "harmless"):
            rules = ", ".join(finding.rule for finding in verdict.findings)
            print(f"{case.where}, {case.kind}, [{rules}]: {case.text[:300]!r}")
    return rows


def _is_found(kind: str, verdict: Verdict) -> bool:
    """Whether an order or a secret is found, or anything at all in an honest text."""
    if kind == "harmless":
        return not verdict.is_clean
    return bool(verdict.secrets if kind == "secret" else verdict.injections)


if __name__ == "__main__":
    main()
