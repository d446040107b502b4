"""The bar of a long command."""

import io

import pytest

from knowledge.management.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_bar_shows_the_rate_and_the_time_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("knowledge.management.progress.time.monotonic", lambda: now)
    stream = Terminal()
    with ProgressBar(stream, "chunks") as bar:
        bar.show(100, 1000)
        now = 110.0
        bar.show(400, 1000)
        assert stream.getvalue().endswith(
            "[##########..............]  40%  400 of 1,000 chunks, 30.0 per second, 20 s left"
        )
        now = 110.05
        bar.show(401, 1000)  # sooner than anybody could read
        assert "401" not in stream.getvalue()
    assert "401 of 1,000" in stream.getvalue()
    assert stream.getvalue().endswith("\n")


def test_elsewhere_a_line_comes_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("knowledge.management.progress.time.monotonic", lambda: now)
    stream = io.StringIO()
    with ProgressBar(stream, "chunks") as bar:
        for _ in range(80):
            bar.show(int(now), 500_000)
            now += 0.1
    lines = stream.getvalue().splitlines()
    assert [line[:13] for line in lines] == ["  0%  100 of ", "  0%  105 of ", "  0%  107 of "]
    assert lines[-1].endswith(", 0.9 per second, 158 h 41 min left")
