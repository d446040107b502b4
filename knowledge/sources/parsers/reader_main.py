"""A reader: limits itself, then answers one request after the other until nobody asks any more."""

import importlib
import os
import resource
import select
import sys
import traceback
from typing import IO, Any

from knowledge.sources.parsers.__main__ import NICENESS, limit, take_stdout
from knowledge.sources.parsers.frames import Frame, receive_frame, send_frame

_pipes: list[IO[bytes]] = []


def main() -> None:
    megabytes, idle_seconds = int(sys.argv[1]), float(sys.argv[2])
    way_out = os.fdopen(take_stdout(), "wb")
    way_in = sys.stdin.buffer
    _pipes[:] = [way_in, way_out]
    os.nice(NICENESS)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_AS, megabytes)
    # Its parent's end of the pipe closes when that ends in any way, even by kill -9.
    while select.select([way_in], [], [], idle_seconds)[0]:
        try:
            send_frame(way_out, _answer(receive_frame(way_in)))
        except (EOFError, BrokenPipeError):
            break
    os._exit(0)


def ask_caller(question: Any) -> bytes:
    """What the process that waits for this reader answers to a question."""
    way_in, way_out = _pipes
    send_frame(way_out, Frame({"ask": question}))
    return receive_frame(way_in).blobs[0]


def _answer(asked: Frame) -> Frame:
    _allow_cpu(asked.value["seconds"])
    module, _, name = asked.value["target"].partition(":")
    try:
        work = getattr(importlib.import_module(module), name)
        given: Frame = work(Frame(asked.value["request"], asked.blobs))
    except MemoryError:
        raise
    except Exception:
        return Frame({"failed": traceback.format_exc(limit=-3)})
    return Frame({"given": given.value}, given.blobs)


def _allow_cpu(seconds: int) -> None:
    """So much more than was used, over all threads: the kernel ends what takes longer."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(used.ru_utime + used.ru_stime) + 1
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = spent + seconds * (os.cpu_count() or 1)
    if most != resource.RLIM_INFINITY:
        allowed = min(allowed, most)
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))


if __name__ == "__main__":
    # Under its own name, so that what is imported from here is this very module.
    from knowledge.sources.parsers import reader_main

    reader_main.main()
