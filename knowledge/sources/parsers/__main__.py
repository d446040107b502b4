"""The child: limits itself, reads one request, calls the function it names, answers, ends."""

import importlib
import json
import os
import resource
import sys
from typing import Any

from knowledge.errors import IngestFailed
from knowledge.sources.parsers.parent_watch import die_with_parent

NICENESS = 5
"""More than a web process has, so that short calls come before the reading of long texts."""


def main() -> None:
    answers = take_stdout()
    asked = json.load(sys.stdin.buffer)
    limits = asked["limits"]
    die_with_parent(limits["parent"])
    os.nice(NICENESS)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_CPU, limits["cpu"], spare=1)
    limit(resource.RLIMIT_FSIZE, limits["file"])
    limit(resource.RLIMIT_AS, limits["bytes"])
    answer = _answer(limits["target"], asked["request"])
    with open(answers, "wb") as way_out:
        way_out.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    # Nothing that a library left to do at exit may hang or crash a child that has answered.
    os._exit(0)


def take_stdout() -> int:
    """The way of the answer alone: what libraries print must not be mixed into it."""
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    return answers


def limit(kind: int, amount: int, *, spare: int = 0) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        amount = min(amount, most - spare)
    resource.setrlimit(kind, (amount, amount + spare))


def _answer(target: str, request: dict[str, Any]) -> dict[str, Any]:
    module, _, name = target.partition(":")
    try:
        return {"given": getattr(importlib.import_module(module), name)(request)}
    except IngestFailed as refusal:
        return {"refused": {"message": refusal.message, "details": refusal.details}}


if __name__ == "__main__":
    main()
