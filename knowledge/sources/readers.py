"""Reader processes: a few children that stay, for texts that would keep the web process busy.

A process that serves many callers opens them; everywhere else, as in a job, texts are read in
place. A reader has none of our environment, is limited in memory and processor time, and is
killed when a call takes too long. One that nobody asked for a while ends by itself.
"""

import contextlib
import logging
import math
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import IO, Any, cast

from knowledge.errors import ProviderUnavailable
from knowledge.monitoring.turns import while_waiting
from knowledge.sources.child import ENVIRONMENT
from knowledge.sources.parsers.frames import Frame, receive_frame, send_frame

logger = logging.getLogger(__name__)

MOST = 2
"""Readers of one process: as many as keep two cores busy beside it."""
MEGABYTES = 3_000
"""Of address space, which the model and its threads count against; most of it is never used."""
LONG_TEXT = 50_000
"""Characters that take a reader a quarter of a second and more."""
SECONDS = 30.0
"""For one text, waiting for a free reader included; the longest that is taken needs two."""
IDLE_SECONDS = 600
"""A reader takes a second to start and 90 MB, or 220 with the model."""

Answer = Callable[[Any], bytes]
"""What the caller answers when a reader asks in between, as for the stems of words."""


class Readers:
    """The readers of this process: at most so many, started when they are needed."""

    def __init__(
        self, most: int = MOST, *, idle_seconds: float = IDLE_SECONDS, megabytes: int = MEGABYTES
    ) -> None:
        self._limits = megabytes, idle_seconds
        self._free = threading.BoundedSemaphore(most)
        self._free_for_long = threading.BoundedSemaphore(max(1, most - 1))
        self._idle: list[_Reader] = []
        self._all: set[_Reader] = set()
        self._changing = threading.Lock()

    def call(
        self,
        target: str,
        request: Any,
        *blobs: bytes,
        seconds: float = SECONDS,
        answer: Answer | None = None,
        is_long: bool = False,
    ) -> Frame:
        """What `package.module:function` answers, computed by a reader while the call waits.

        One reader is kept from what is long, so that short work waits for short work alone.
        """
        with while_waiting(), contextlib.ExitStack() as places:
            for place in (self._free_for_long, self._free) if is_long else (self._free,):
                if not place.acquire(timeout=seconds):
                    raise ProviderUnavailable(
                        "Many long texts are being read at this moment; try again shortly.",
                        may_pass=True,
                    )
                places.callback(place.release)
            return self._call(target, Frame(request, blobs), seconds, answer)

    def close(self) -> None:
        """End all of them, also those that are at work."""
        with self._changing:
            for reader in self._all:
                reader.kill()
            self._all.clear()
            self._idle.clear()

    def _call(self, target: str, frame: Frame, seconds: float, answer: Answer | None) -> Frame:
        reader = self._take()
        try:
            given = reader.call(target, frame, seconds=seconds, answer=answer)
        except _WentIdle:
            self._drop(reader)
            return self._call(target, frame, seconds, answer)
        except BaseException:
            self._drop(reader)
            raise
        with self._changing:
            if reader in self._all:  # not closed meanwhile
                self._idle.append(reader)
        return given

    def _take(self) -> "_Reader":
        with self._changing:
            while self._idle:
                reader = self._idle.pop()
                if reader.is_awake():
                    return reader
                self._all.discard(reader)
                reader.kill()  # it ended by itself; its pipes are still open here
            reader = _Reader(*self._limits)
            self._all.add(reader)
            return reader

    def _drop(self, reader: "_Reader") -> None:
        with self._changing:
            self._all.discard(reader)
        reader.kill()


class _WentIdle(Exception):
    """The reader ended, as nobody had asked it for long, at the very moment it was asked."""


class _Reader:
    """One child and the pipes to it; a call at a time."""

    def __init__(self, megabytes: int, idle_seconds: float) -> None:
        limits = [str(megabytes * 1024 * 1024), str(idle_seconds)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "knowledge.sources.parsers.reader_main", *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env=ENVIRONMENT,
            process_group=0,  # in our session, within which the kernel heeds its niceness
        )
        self._pipes = cast(tuple[IO[bytes], IO[bytes]], (self._process.stdin, self._process.stdout))
        self._was_slow = False

    def is_awake(self) -> bool:
        return self._process.poll() is None

    def call(self, target: str, frame: Frame, *, seconds: float, answer: Answer | None) -> Frame:
        way_in, way_out = self._pipes
        asked = {"target": target, "seconds": math.ceil(seconds), "request": frame.value}
        with self._deadline(seconds):
            try:
                send_frame(way_in, Frame(asked, frame.blobs))
                while "ask" in (given := receive_frame(way_out)).value:
                    told = answer(given.value["ask"]) if answer else b""
                    send_frame(way_in, Frame(None, (told,)))
            except (OSError, EOFError) as error:
                if self._process.wait() == 0 and not self._was_slow:
                    raise _WentIdle from None
                raise self._failure(target) from error
        if "given" not in given.value:
            logger.warning("%s failed: %s", target, given.value.get("failed"))
            raise ProviderUnavailable("This text could not be read; change it, or send less of it.")
        return Frame(given.value["given"], given.blobs)

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.close()

    @contextlib.contextmanager
    def _deadline(self, seconds: float) -> Iterator[None]:
        def end() -> None:
            self._was_slow = True
            self._process.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _failure(self, target: str) -> ProviderUnavailable:
        logger.warning("A reader ended in the middle of %s", target)
        why = "took too long" if self._was_slow else "took too much memory or time"
        return ProviderUnavailable(
            f"Reading this text {why}; send a shorter or simpler one, or upload it as a file.",
            reason="too_slow" if self._was_slow else "crashed",
        )


_opened: Readers | None = None


@contextlib.contextmanager
def open_readers(most: int = MOST, *, idle_seconds: float = IDLE_SECONDS) -> Iterator[Readers]:
    """Have long texts read by readers from here on, in every thread of this process."""
    global _opened
    before, _opened = _opened, Readers(most, idle_seconds=idle_seconds)
    try:
        yield _opened
    finally:
        _opened.close()
        _opened = before


def opened_readers() -> Readers | None:
    """The readers of this process; None where texts are read in place."""
    return _opened
