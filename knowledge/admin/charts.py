"""Bars by day, drawn by the server: an SVG to look at and a table that says the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, log10

DAYS = 14
WIDTH, HEIGHT = 560, 150
_LEFT, _TOP, _BOTTOM = 44, 8, 22
_GAP = 0.25
"""How much of a day's width stays empty."""


@dataclass(frozen=True, slots=True)
class Series:
    """One number a day; `shade` is the colour it is drawn in."""

    name: str
    values: Mapping[date, float]
    shade: int = 1

    def on(self, day: date) -> float:
        return self.values.get(day, 0)

    @property
    def total(self) -> float:
        return sum(self.values.values())


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    shade: int
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line across the chart, with the number it stands for."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """What happened on each of the last days: series upon series, each bar from the one below."""

    title: str
    series: Sequence[Series]
    unit: str = ""
    is_nested: bool = False
    """Each series contains the one before it, as a 95th percentile contains the median."""
    link: str = ""
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def days(self) -> list[date]:
        return sorted({day for series in self.series for day in series.values})

    @property
    def is_empty(self) -> bool:
        return not any(series.total for series in self.series)

    @property
    def totals(self) -> list[tuple[Series, str]]:
        """What stands beside the title; medians of days do not add up to anything."""
        if self.is_nested:
            return [(series, "") for series in self.series]
        return [(series, self.say(series.total)) for series in self.series]

    @property
    def rows(self) -> list[tuple[date, list[str]]]:
        """The table: each day with its numbers, the newest first."""
        return [
            (day, [self.say(series.on(day)) for series in self.series])
            for day in reversed(self.days)
        ]

    @property
    def top(self) -> float:
        """A round number that no bar exceeds."""
        return round_up(max((self._height_on(day) for day in self.days), default=0))

    @property
    def lines(self) -> list[Line]:
        return [Line(self._y(share * self.top), _short(share * self.top)) for share in (0.5, 1)]

    @property
    def base(self) -> float:
        return HEIGHT - _BOTTOM

    @property
    def label_y(self) -> float:
        return HEIGHT - 5

    @property
    def bars(self) -> list[Bar]:
        return [bar for number, day in enumerate(self.days) for bar in self._bars_on(number, day)]

    @property
    def day_labels(self) -> list[tuple[float, str]]:
        """Every third day, from the last one back, so that no two overlap."""
        return [
            (round(_LEFT + self._room * (number + 0.5), 1), f"{day.day} {day:%b}")
            for number, day in enumerate(self.days)
            if (len(self.days) - 1 - number) % 3 == 0
        ]

    def say(self, value: float) -> str:
        number = f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
        return f"{number} {self.unit}".strip()

    @property
    def _room(self) -> float:
        return (WIDTH - _LEFT) / max(1, len(self.days))

    def _height_on(self, day: date) -> float:
        values = [series.on(day) for series in self.series]
        return max(values) if self.is_nested else sum(values)

    def _y(self, value: float) -> float:
        return round(self.base - (self.base - _TOP) * value / self.top, 1)

    def _bars_on(self, number: int, day: date) -> list[Bar]:
        below, bars = 0.0, []
        for series in self.series:
            value = series.on(day)
            above = max(below, value) if self.is_nested else below + value
            if above > below:
                bars.append(self._bar(number, day, series, below, above))
            below = above
        return bars

    def _bar(self, number: int, day: date, series: Series, below: float, above: float) -> Bar:
        top = self._y(above)
        return Bar(
            x=round(_LEFT + self._room * (number + _GAP / 2), 1),
            y=top,
            width=round(self._room * (1 - _GAP), 1),
            height=max(1.0, round(self._y(below) - top, 1)),
            shade=series.shade,
            label=f"{day:%Y-%m-%d}: {self.say(series.on(day))} ({series.name})",
        )


def last_days(until: date, days: int = DAYS) -> list[date]:
    return [until - timedelta(days=ago) for ago in range(days - 1, -1, -1)]


def by_day(days: Sequence[date], counted: Mapping[date, float]) -> dict[date, float]:
    """A number for each of the days, zero where nothing was counted."""
    return {day: counted.get(day, 0) for day in days}


def round_up(value: float) -> float:
    """1, 2 or 5 times a power of ten; never less than 2, so that half of it is a whole number."""
    if value <= 2:
        return 2
    power = 10.0 ** int(log10(value))
    return next(step * power for step in (1, 2, 4, 5, 10) if step * power >= ceil(value))


def _short(value: float) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
