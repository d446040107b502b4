"""How far a long command has come: a bar on a terminal, a line now and then anywhere else."""

import time
from types import TracebackType
from typing import Self, TextIO

_BAR = 24
_ON_TERMINAL_SEC = 0.1
_ELSEWHERE_SEC = 5.0


class ProgressBar:
    """Shows done and total, the rate, and the time that is left at this rate."""

    def __init__(self, stream: TextIO, unit: str) -> None:
        self._stream = stream
        self.unit = unit
        self._is_terminal = stream.isatty()
        self._every = _ON_TERMINAL_SEC if self._is_terminal else _ELSEWHERE_SEC
        self._started: tuple[float, int] | None = None
        self._shown_at = 0.0
        self._latest: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """The last state is always shown, however it came to an end."""
        if self._latest:
            self._write(*self._latest)
            if self._is_terminal:
                self._stream.write("\n")

    def show(self, done: int, total: int) -> None:
        """Take note of the state; it is written only as often as anybody can read it."""
        now = time.monotonic()
        self._started = self._started or (now, done)
        self._latest = (done, total)
        if now - self._shown_at >= self._every:
            self._shown_at = now
            self._write(done, total)

    def _write(self, done: int, total: int) -> None:
        state = f"{_share(done, total):4.0%}  {done:,} of {total:,} {self.unit}"
        line = state + self._pace(done, total)
        if self._is_terminal:
            filled = round(_BAR * _share(done, total))
            self._stream.write(f"\r\x1b[K[{'#' * filled}{'.' * (_BAR - filled)}] {line}")
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def _pace(self, done: int, total: int) -> str:
        began, before = self._started or (0.0, done)
        seconds = time.monotonic() - began
        if done <= before or seconds < 0.5:
            return ""
        rate = (done - before) / seconds
        left = "" if done >= total else f", {_duration((total - done) / rate)} left"
        return f", {rate:,.1f} per second{left}"


def _share(done: int, total: int) -> float:
    return min(1.0, done / total) if total else 1.0


def _duration(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {whole % 60:02} s" if minutes else f"{whole} s"
