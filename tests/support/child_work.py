"""What the tests of child.py run in the child."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

from knowledge.errors import IngestFailed

Json = dict[str, Any]


def echo(request: Json) -> Json:
    sys.stdout.write("libraries print")
    os.write(1, b"so do those in C")
    return request


def modules(request: Json) -> Json:
    return {"names": sorted(sys.modules), "environment": dict(os.environ)}


def refuse(request: Json) -> Json:
    raise IngestFailed("This file is odd; send an even one.", reason="odd", page=3)


def fail(request: Json) -> Json:
    raise KeyError("an inner secret")


def eat_memory(request: Json) -> Json:
    return {"length": len([bytes(10_000_000) + os.urandom(1) for _ in range(1_000)])}


def spin(request: Json) -> Json:
    while True:
        pass


def sleep_with_a_child(request: Json) -> Json:
    sleeper = subprocess.Popen(["sleep", "300"])
    with open(request["path"], "w") as pids:
        pids.write(f"{os.getpid()} {sleeper.pid}")
    time.sleep(300)
    return {}


def crash(request: Json) -> Json:
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def answer_at_length(request: Json) -> Json:
    return {"text": "x" * request["length"]}


def write_a_file(request: Json) -> Json:
    with open(request["path"], "wb") as file:
        file.write(bytes(request["length"]))
    return {}
