"""Tables, ratios and clocks."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks import harness
from benchmarks.peers import with_ratio


def test_a_table_has_every_column_of_any_row() -> None:
    rows = [{"by": "a", "n": 12_345}, {"by": "b", "ms": 0.12345, "rate": 9_876.5}]
    assert harness.table(rows).splitlines() == [
        "| by | n | ms | rate |",
        "| --- | --- | --- | --- |",
        "| a | 12,345 |  |  |",
        "| b |  | 0.123 | 9,876 |",
    ]


def test_timings_add_up_who_used_the_processor() -> None:
    clock = iter([{"client": 1.0, "postgres": 5.0}, {"client": 1.2, "postgres": 5.6}])
    timings, answers = harness.timed([lambda: "x", lambda: "y"], lambda: next(clock))
    assert answers == ["x", "y"]
    assert timings.row["CPU ms"] == pytest.approx(400)
    assert timings.row["of it Postgres"] == pytest.approx(300)


def test_results_are_written_with_the_facts_of_the_machine(tmp_path: Path) -> None:
    options = Namespace(json=tmp_path / "new" / "out.json", small=True)
    harness.write_json(options, {"one": [{"by": "a", "ms": 1.5}]})
    written = json.loads(options.json.read_text())
    assert written["tables"] == {"one": [{"by": "a", "ms": 1.5}]}
    assert written["small"]
    assert written["machine"]["cores"] >= 1


def test_a_ratio_compares_the_same_mode_and_filter() -> None:
    ours = {"mode": "semantic", "filter": 10, "by": "Quarry", "CPU ms": 2.0}
    ranking = {**ours, "by": "Quarry, ranking alone", "CPU ms": 1.0}
    larger = {**ours, "filter": 99, "CPU ms": 8.0}
    theirs = {**ours, "by": "Peer", "CPU ms": 5.0}
    rows = [larger, ours, ranking, theirs]
    row = with_ratio(theirs, rows)
    assert (row["CPU over our answer"], row["CPU over our ranking"]) == (2.5, 5.0)
    assert with_ratio(ours, rows) == ours
