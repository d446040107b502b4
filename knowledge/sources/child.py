"""Hostile files are read in a child process that can be killed; the worker never reads them."""

import json
import logging
import math
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from knowledge.errors import IngestFailed

logger = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent.parent
LONGEST_ANSWER = 64_000_000
TAIL = 2_000
# The worker's own environment holds its keys, so that the child gets none of it. One thread
# each and few arenas: address space is what the memory limit counts.
ENVIRONMENT = {
    "PATH": f"/usr/local/bin{os.pathsep}{os.defpath}",
    "PYTHONPATH": str(ROOT),
    "PYTHONSAFEPATH": "1",
    "PYTHONUTF8": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "Cannot allocate memory", "out of memory")


def run_in_child(
    target: str, request: dict[str, Any], *, seconds: float, megabytes: int, writes: int = 64
) -> dict[str, Any]:
    """What `package.module:function` answers to the request, read in a process of its own.

    Both are JSON. The child has `seconds`, `megabytes` of memory and files of at most `writes`
    megabytes; it dies with its caller. Every failure is an IngestFailed with a reason: the one
    the function raised, or too_slow, too_much_memory or crashed.
    """
    limits = {
        "target": target,
        "parent": os.getpid(),
        "cpu": math.ceil(seconds) * (os.cpu_count() or 1) + 1,  # counted over all threads
        "bytes": megabytes * 1024 * 1024,
        "file": writes * 1024 * 1024,
    }
    with (
        tempfile.TemporaryFile() as asked,
        tempfile.TemporaryFile() as answered,
        tempfile.TemporaryFile() as complaints,
    ):
        asked.write(json.dumps({"limits": limits, "request": request}).encode())
        asked.seek(0)
        status = _run(asked, answered, complaints, seconds=seconds)
        if status == 0 and (size := answered.seek(0, os.SEEK_END)):
            return _answer(answered, size)
        raise _failure(target, status, _tail(complaints))


def _run(asked: IO[bytes], answered: IO[bytes], complaints: IO[bytes], *, seconds: float) -> int:
    """The exit status. Neither the child nor what it started is left when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-m", "knowledge.sources.parsers"],
        stdin=asked,
        stdout=answered,
        stderr=complaints,
        cwd="/",
        env=ENVIRONMENT,
        process_group=0,  # in our session, within which the kernel heeds its niceness
    )
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise IngestFailed(
            f"Reading it took longer than {seconds:g} seconds; send a smaller or simpler file.",
            reason="too_slow",
            seconds=seconds,
        ) from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _answer(answered: IO[bytes], size: int) -> dict[str, Any]:
    if size > LONGEST_ANSWER:
        raise IngestFailed("It holds more than can be read; split the file.", reason="too_long")
    answered.seek(0)
    answer = json.loads(answered.read().decode("utf-8", "surrogatepass"))
    if refused := answer.get("refused"):
        raise IngestFailed(refused["message"], **refused["details"])
    given: dict[str, Any] = answer["given"]
    return given


def _failure(target: str, status: int, complaint: str) -> IngestFailed:
    logger.warning("%s ended with status %s: %s", target, status, complaint)
    if status == -signal.SIGXCPU:
        return IngestFailed(
            "Reading it took too long; send a smaller or simpler file.", reason="too_slow"
        )
    # A kill that is not ours is the kernel's, short of memory.
    if status == -signal.SIGKILL or any(words in complaint for words in OUT_OF_MEMORY):
        return IngestFailed(
            "Reading it took too much memory; send a smaller or simpler file.",
            reason="too_much_memory",
        )
    return IngestFailed(
        "The file broke its reader; save it again in another program or format, and send that.",
        reason="crashed",
    )


def _tail(complaints: IO[bytes]) -> str:
    size = complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, size - TAIL))
    return complaints.read().decode("utf-8", "replace").strip()
