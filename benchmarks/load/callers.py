"""Callers on kept connections, each asking again and again until its time is up."""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks import harness

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


@dataclass(frozen=True)
class Kind:
    """Calls of one kind: how often among the others, and the bytes of the n-th one of a caller."""

    name: str
    share: float
    write: Callable[[int, int], bytes]


@dataclass
class Answers:
    """How long each call took by its kind, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    lasted: float = 0.0

    @property
    def count(self) -> int:
        return sum(map(len, self.seconds.values()))

    def row(self) -> harness.Row:
        every = np.array([each for some in self.seconds.values() for each in some]) * 1000
        p50, p95, p99 = np.percentile(every, [50, 95, 99]) if len(every) else (0.0, 0.0, 0.0)
        return {
            "calls/s": self.count / self.lasted,
            "p50 ms": float(p50),
            "p95 ms": float(p95),
            "p99 ms": float(p99),
            "errors": sum(self.errors.values()),
        }


def call_for(
    seconds: float, callers: int, kinds: Sequence[Kind], address: tuple[str, int]
) -> Answers:
    """What so many callers are answered within so much time."""
    return asyncio.run(_call_all(seconds, callers, kinds, address))


async def _call_all(
    seconds: float, callers: int, kinds: Sequence[Kind], address: tuple[str, int]
) -> Answers:
    answers, began = Answers(), time.perf_counter()
    calls = [
        call_until(began + seconds, number, kinds, address, answers) for number in range(callers)
    ]
    await asyncio.gather(*calls)
    answers.lasted = time.perf_counter() - began
    return answers


async def call_until(
    until: float, caller: int, kinds: Sequence[Kind], address: tuple[str, int], answers: Answers
) -> None:
    choose = random.Random(caller)
    shares = [kind.share for kind in kinds]
    reader, writer = await asyncio.open_connection(*address, limit=2**24)
    number = 0
    while time.perf_counter() < until:
        [kind] = choose.choices(kinds, shares)
        number += 1
        began = time.perf_counter()
        writer.write(kind.write(caller, number))
        try:
            head, body = await read_answer(reader)
        except (OSError, asyncio.IncompleteReadError) as error:
            answers.errors[f"{kind.name}: {type(error).__name__}"] += 1
            reader, writer = await asyncio.open_connection(*address, limit=2**24)
            continue
        if not head.startswith(b"HTTP/1.1 2") or b'"error":{"code"' in body:
            answers.errors[f"{kind.name}: {(head[9:12] + b' ' + body[:120]).decode()}"] += 1
        else:
            answers.seconds.setdefault(kind.name, []).append(time.perf_counter() - began)
    writer.close()


async def read_answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    if found := _LENGTH.search(head):
        return head, await reader.readexactly(int(found[1]))
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return head, body
