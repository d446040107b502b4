"""Charts say what the tables beside them say."""

import re
from pathlib import Path

import pytest

from benchmarks import charts
from benchmarks.charts import CHARTS, DOCS, Chart, draw

TABLE = """# A page

## Costs

Measured on a Sunday.

| who | chunks | CPU ms | note |
| --- | --- | --- | --- |
| Quarry | 2,000 | 2 | |
| Other | 2,000 | 4.5 | a < b |
| Quarry | 10,000 | 1,000 | |

| who | chunks | CPU ms |
| --- | --- | --- |
| Third | 1 | 1 |
"""


@pytest.fixture
def costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chart:
    monkeypatch.setattr(charts, "DOCS", tmp_path)
    (tmp_path / "page.md").write_text(TABLE)
    return Chart(
        name="costs",
        title="What does it cost?",
        unit="ms",
        page="page.md",
        heading="Costs",
        rows=["chunks"],
        series="who",
        value="CPU ms",
        ours=["Quarry"],
        others=["Other"],
    )


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_a_committed_chart_is_drawn_from_the_table_as_it_is(chart: Chart) -> None:
    assert (DOCS / f"{chart.name}.svg").read_text() == draw(chart), (
        "run python -m benchmarks.charts"
    )


def test_a_chart_reads_the_first_table_of_its_heading(costs: Chart) -> None:
    assert costs.values() == {
        "2,000": {"Quarry": 2, "Other": 4.5},
        "10,000": {"Quarry": 1000},
    }


def test_bars_are_as_long_as_their_values(costs: Chart) -> None:
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="12"', draw(costs))]
    assert len(widths) == 3
    assert widths[1] / widths[2] == pytest.approx(4.5 / 1000, abs=0.002)


def test_a_table_that_is_gone_is_told(costs: Chart, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# A page\n")
    with pytest.raises(ValueError, match="no heading “Costs”"):
        draw(costs)
