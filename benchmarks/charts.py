"""Draws the charts of docs/benchmarks.md from the tables beside it, so that both say the same.

`python -m benchmarks.charts` writes docs/benchmarks/*.svg; a test tells when a table changed since.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"

WIDTH, NAMES_WIDTH, MARGIN = 760, 210, 20
TOP, DOTS_HEIGHT, BAR_HEIGHT, BARS_GAP = 78, 26, 15, 12
OURS = ("#b45309", "#f59e0b", "#fcd34d")
OTHERS = ("#1d4ed8", "#0891b2", "#64748b", "#a1a1aa")
STYLE = """
    text { fill: #292524; font: 13px system-ui, sans-serif; }
    .title { font-size: 16px; font-weight: 600; }
    .quiet { fill: #57534e; font-size: 12px; }
    .grid { stroke: #d6d3d1; }
    .paper { fill: #fffdfa; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f5f5f4; } .quiet { fill: #a8a29e; }
      .grid { stroke: #44403c; } .paper { fill: #1c1917; }
    }"""

Table = list[dict[str, str]]


@dataclass(frozen=True)
class Chart:
    """One question that a table answers: a row of the chart for each value of `rows`.

    The series are columns of the table or, with `series`, what that column says, at `value`.
    """

    name: str
    title: str
    unit: str
    page: str
    heading: str
    rows: Sequence[str]
    ours: Sequence[str]
    others: Sequence[str] = ()
    series: str = ""
    value: str = ""
    where: Mapping[str, str] = field(default_factory=dict)
    dots: bool = False
    logarithmic: bool = False

    @property
    def colours(self) -> dict[str, str]:
        """Of each series, as the legend has them."""
        return dict(zip(self.ours, OURS, strict=False)) | dict(
            zip(self.others, OTHERS, strict=False)
        )

    def values(self) -> dict[str, dict[str, float]]:
        """What the table says, by row and series."""
        found: dict[str, dict[str, float]] = {}
        for row in _table(self.page, self.heading):
            if any(row[column] != wanted for column, wanted in self.where.items()):
                continue
            cells = {row[self.series]: row[self.value]} if self.series else row
            name = ", ".join(row[column] for column in self.rows)
            for series in self.colours:
                if (value := _number(cells.get(series, ""))) is not None:
                    found.setdefault(name, {})[series] = value
        return found


def draw(chart: Chart) -> str:
    """The chart as an SVG that reads well on a light and on a dark page."""
    values = chart.values()
    if not values:
        raise ValueError(f"No row of “{chart.heading}” in {chart.page} is for chart {chart.name}.")
    heights = [_row_height(chart, cells) for cells in values.values()]
    height = TOP + sum(heights) + 34
    axis = _Axis.over([value for cells in values.values() for value in cells.values()], chart)
    body = [*_heading(chart), *_grid(axis, height)]
    y = TOP
    for (name, cells), row_height in zip(values.items(), heights, strict=True):
        middle = y + row_height / 2 - (0 if chart.dots else BARS_GAP / 2)
        body.append(_text(NAMES_WIDTH - 8, middle + 4, name, anchor="end"))
        body += _dots(chart, axis, cells, middle) if chart.dots else _bars(chart, axis, cells, y)
        y += row_height
    label = escape(f"{chart.title} {chart.unit}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{label}">\n  <style>{STYLE}\n  </style>\n'
        f'  <rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>\n  '
        + "\n  ".join(body)
        + "\n</svg>\n"
    )


# Parts of a chart -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """Where a value stands between the names and the right margin."""

    low: float
    high: float
    logarithmic: bool
    ticks: Sequence[float]
    room_for_figures: int

    @classmethod
    def over(cls, values: Sequence[float], chart: Chart) -> "_Axis":
        room = 10 if chart.dots else 50
        if chart.logarithmic:
            low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
            return cls(low, high, True, [10.0**power for power in range(low, high + 1)], room)
        step = _step(max(values) - (min(values) if chart.dots else 0))
        lowest = math.floor(min(values) / step) * step if chart.dots else 0.0
        count = math.ceil((max(values) - lowest) / step)
        ticks = [lowest + at * step for at in range(count + 1)]
        return cls(lowest, ticks[-1], False, ticks, room)

    def x(self, value: float) -> float:
        at = math.log10(value) if self.logarithmic else value
        room = WIDTH - NAMES_WIDTH - MARGIN - self.room_for_figures
        return round(NAMES_WIDTH + (at - self.low) / (self.high - self.low or 1) * room, 1)


def _step(span: float) -> float:
    """A round distance between five or so lines."""
    raw = (span or 1) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw)


def _row_height(chart: Chart, cells: Mapping[str, float]) -> int:
    return DOTS_HEIGHT if chart.dots else len(cells) * BAR_HEIGHT + BARS_GAP


def _heading(chart: Chart) -> Iterator[str]:
    yield _text(MARGIN, 26, chart.title, kind="title")
    yield _text(MARGIN, 44, chart.unit, kind="quiet")
    x = MARGIN
    for name, colour in chart.colours.items():
        yield f'<rect x="{x}" y="54" width="10" height="10" rx="2" fill="{colour}"/>'
        yield _text(x + 15, 63, name, kind="quiet")
        x += 33 + round(6.6 * len(name))


def _grid(axis: _Axis, height: float) -> Iterator[str]:
    for tick in axis.ticks:
        x = axis.x(tick)
        yield f'<line class="grid" x1="{x}" y1="{TOP - 4}" x2="{x}" y2="{height - 28}"/>'
        yield _text(x, height - 12, _said(tick), anchor="middle", kind="quiet")


def _dots(chart: Chart, axis: _Axis, cells: Mapping[str, float], middle: float) -> Iterator[str]:
    # Ours are drawn last, so that they lie on top.
    for name in reversed(chart.colours):
        if name in cells:
            size = 6 if name in chart.ours else 4.5
            yield (
                f'<circle cx="{axis.x(cells[name])}" cy="{middle}" r="{size}" '
                f'fill="{chart.colours[name]}"><title>{escape(name)}: {_said(cells[name])}'
                "</title></circle>"
            )


def _bars(chart: Chart, axis: _Axis, cells: Mapping[str, float], y: float) -> Iterator[str]:
    for at, (name, value) in enumerate(cells.items()):
        top = y + at * BAR_HEIGHT
        width = round(max(1.5, axis.x(value) - NAMES_WIDTH), 1)
        yield (
            f'<rect x="{NAMES_WIDTH}" y="{top}" width="{width}" height="{BAR_HEIGHT - 3}" '
            f'fill="{chart.colours[name]}"/>'
        )
        yield _text(NAMES_WIDTH + width + 5, top + 10, _said(value), kind="quiet")


def _text(x: float, y: float, said: str, *, anchor: str = "start", kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{round(x, 1)}" y="{y}" text-anchor="{anchor}"{style}>{escape(said)}</text>'


def _said(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


# Tables ---------------------------------------------------------------------------------------


def _table(page: str, heading: str) -> Table:
    """The first table under a heading of a page."""
    _, found, rest = (DOCS / page).read_text().partition(f"\n## {heading}\n")
    if not found:
        raise ValueError(f"{page} has no heading “{heading}”.")
    section = re.split(r"^## ", rest, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    names = _cells(lines[0])
    rows: Table = []
    for line in section[section.index(lines[0]) :].splitlines()[2:]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(names, _cells(line), strict=True)))
    return rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _number(said: str) -> float | None:
    try:
        return float(said.replace(",", ""))
    except ValueError:
        return None


# The questions --------------------------------------------------------------------------------

CHARTS = [
    Chart(
        name="found",
        title="Is the right passage among the first ten?",
        unit="nDCG@10 in hundredths: further right is better",
        page="ranking.md",
        heading="Quality: ranking",
        rows=["collection"],
        ours=["hybrid", "keyword"],
        others=["exact cosine", "bm25s", "RRF"],
        dots=True,
    ),
    Chart(
        name="languages",
        title="And in languages that the bundled model does not know?",
        unit="nDCG@10 in hundredths: further right is better",
        page="ranking.md",
        heading="Languages",
        rows=["collection"],
        ours=["hybrid", "keyword"],
        others=["meaning in full"],
        dots=True,
    ),
    Chart(
        name="conversations",
        title="Is what was said found again in long conversations?",
        unit="nDCG@10 in hundredths over LoCoMo's questions: further right is better",
        page="ranking.md",
        heading="Memory: what age and dates do",
        rows=["questions"],
        ours=["default"],
        others=["without", "half-life in full"],
        dots=True,
    ),
    Chart(
        name="calls",
        title="What does a call cost?",
        unit="ms of CPU, the web process and Postgres together: shorter is better",
        page="speed.md",
        heading="Calls",
        rows=["call"],
        ours=["now"],
        others=["at first", "goal"],
    ),
    Chart(
        name="beside-others",
        title="And beside what one would use instead?",
        unit="ms of CPU for a semantic search over HTTP, filtered by owner: shorter is better",
        page="speed.md",
        heading="Beside others, over HTTP",
        rows=["search", "callers"],
        ours=["Quarry"],
        others=["Chroma's server", "LanceDB", "bare pgvector"],
    ),
    Chart(
        name="ranking-by-word",
        title="What does it cost to rank by word?",
        unit="ms of CPU in Postgres, before and after words were packed: shorter is better",
        page="speed.md",
        heading="Ranking",
        rows=["scope"],
        ours=["keyword now"],
        others=["keyword before", "tantivy"],
    ),
    Chart(
        name="hostile",
        title="Does an honest caller notice five hostile ones?",
        unit="ms until the slowest of a hundred honest calls is answered, on a logarithmic scale",
        page="safety.md",
        heading="Hostile: five owners against one",
        rows=["round"],
        ours=["search p99 ms", "add p99 ms"],
        logarithmic=True,
    ),
]


def main() -> None:
    for chart in CHARTS:
        (DOCS / f"{chart.name}.svg").write_text(draw(chart))


if __name__ == "__main__":
    main()
