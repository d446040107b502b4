"""A child is limited in time, memory and what it writes, and never outlives its caller."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knowledge.errors import IngestFailed
from knowledge.sources import child
from knowledge.sources.child import run_in_child

WORK = "tests.support.child_work"
PARENT = f"""
from knowledge.sources.child import run_in_child
run_in_child("{WORK}:sleep_with_a_child", {{"path": PATH}}, seconds=300, megabytes=200)
"""


def run(name: str, request: dict[str, Any] | None = None, **limits: Any) -> dict[str, Any]:
    limits = {"seconds": 30, "megabytes": 300, **limits}
    return run_in_child(f"{WORK}:{name}", request or {}, **limits)


def refusal(name: str, request: dict[str, Any] | None = None, **limits: Any) -> IngestFailed:
    with pytest.raises(IngestFailed) as failed:
        run(name, request, **limits)
    return failed.value


def is_alive(pid: int) -> bool:
    """A zombie that nobody has reaped yet is dead."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def eventually(holds: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        os.sched_yield()
    return holds()


def test_an_answer_comes_back_whole_whatever_the_function_prints() -> None:
    request = {"text": "plain, ünï, 漢字 and a lone \ud800", "number": 1.5, "none": None}
    assert run("echo", request) == request


def test_the_child_has_neither_our_environment_nor_our_framework(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "a secret of ours")
    found = run("modules")
    assert "a secret of ours" not in found["environment"].values()
    assert set(found["environment"]) <= {*child.ENVIRONMENT, "LC_CTYPE"}
    assert not [name for name in found["names"] if name.startswith(("django", "config"))]


def test_a_refusal_of_the_function_reaches_the_caller_with_its_details() -> None:
    failed = refusal("refuse")
    assert failed.message == "This file is odd; send an even one."
    assert failed.details == {"reason": "odd", "page": 3}


def test_a_failing_function_is_a_crash_that_tells_nothing_of_how() -> None:
    failed = refusal("fail")
    assert failed.details == {"reason": "crashed"}
    assert "secret" not in failed.message


def test_a_segmentation_fault_is_a_crash() -> None:
    assert refusal("crash").details["reason"] == "crashed"


def test_too_much_memory_ends_the_child_alone() -> None:
    assert refusal("eat_memory").details["reason"] == "too_much_memory"


def test_a_child_that_never_ends_is_ended() -> None:
    began = time.monotonic()
    assert refusal("spin", seconds=0.5).details["reason"] == "too_slow"
    assert time.monotonic() - began < 10


def test_what_the_child_started_ends_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    refusal("sleep_with_a_child", {"path": str(pids)}, seconds=3)
    assert eventually(lambda: not any(is_alive(int(pid)) for pid in pids.read_text().split()))


def test_a_killed_worker_leaves_no_child(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    worker = subprocess.Popen([sys.executable, "-c", PARENT.replace("PATH", repr(str(pids)))])
    assert eventually(lambda: pids.exists() and " " in pids.read_text())
    child_pid, sleeper = map(int, pids.read_text().split())
    assert is_alive(child_pid)
    worker.kill()
    worker.wait()
    assert eventually(lambda: not is_alive(child_pid))
    os.kill(sleeper, 9)


def test_an_answer_beyond_the_cap_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "LONGEST_ANSWER", 1_000)
    assert refusal("answer_at_length", {"length": 2_000}).details["reason"] == "too_long"


def test_an_answer_that_does_not_fit_its_file_is_a_crash() -> None:
    assert refusal("answer_at_length", {"length": 3_000_000}, writes=1).details == {
        "reason": "crashed"
    }


def test_files_that_the_child_writes_are_limited(tmp_path: Path) -> None:
    path = tmp_path / "out"
    run("write_a_file", {"path": str(path), "length": 500_000}, writes=1)
    assert path.stat().st_size == 500_000
    assert refusal("write_a_file", {"path": str(path), "length": 2_000_000}, writes=1)
    assert path.stat().st_size <= 1_048_576
