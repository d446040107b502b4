"""Readers are few, have limits, end when idle, and answer what would be answered in place."""

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fuzz.texts import DEAREST
from knowledge.errors import ProviderUnavailable
from knowledge.sources import child, readers
from knowledge.sources.parsers.__main__ import NICENESS
from knowledge.sources.parsers.frames import Frame, send_frame
from knowledge.sources.readers import Readers, open_readers, opened_readers
from tests.support import files as made
from tests.support.waiting import DEADLINE, eventually

WORK = "tests.support.reader_work"
PARENT = f"""
import sys
from knowledge.sources.readers import Readers
own = Readers()
print(own.call("{WORK}:tell_process", 0).value["pid"], flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Readers]:
    with open_readers() as opened:
        yield opened


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_bytes_and_values_come_back_whole_and_the_same_reader_is_asked_again(
    pool: Readers,
) -> None:
    value = {"text": "plain, ünï, 漢字 and a lone \ud800", "none": None}
    blobs = (bytes(range(256)), b"", b"x" * 3_000_000)
    assert pool.call(f"{WORK}:echo", value, *blobs) == (value, blobs)
    pids = {pool.call(f"{WORK}:tell_process", 0).value["pid"] for _ in range(3)}
    assert len(pids) == 1


def test_a_reader_whose_caller_was_killed_ends_without_a_word() -> None:
    ask = io.BytesIO()
    send_frame(
        ask, Frame({"target": f"{WORK}:echo", "request": 0, "seconds": 9}, (b"x" * 3_000_000,))
    )
    reader = subprocess.Popen(
        [sys.executable, "-m", "knowledge.sources.parsers.reader_main", str(1 << 30), "60"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child.ENVIRONMENT,
    )
    assert reader.stdout
    reader.stdout.close()  # nobody waits for the answer
    assert reader.communicate(ask.getvalue(), timeout=DEADLINE)[1] == b""
    assert reader.returncode == 0


def test_a_reader_has_none_of_our_environment(
    pool: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "a secret of ours")
    with open_readers() as fresh:
        told = fresh.call(f"{WORK}:tell_process", 0).value["environment"]
    assert set(told) <= {*child.ENVIRONMENT, "LC_CTYPE"}


def test_a_reader_comes_after_its_callers_where_they_share_cores(pool: Readers) -> None:
    pid = pool.call(f"{WORK}:tell_process", 0).value["pid"]
    assert os.getsid(pid) == os.getsid(0)  # the kernel compares niceness within a session
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, ours + NICENESS)


def test_a_reader_asks_its_caller_in_between(pool: Readers) -> None:
    def answer(question: Any) -> bytes:
        return f"You asked {question['question']}.".encode()

    assert pool.call(f"{WORK}:ask_back", 7, answer=answer).value == "You asked 7."


def test_there_are_no_more_readers_than_allowed(pool: Readers) -> None:
    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(pool.call, f"{WORK}:tell_process", 0.1) for _ in range(8)]
        pids = {call.result().value["pid"] for call in calls}
    assert 1 <= len(pids) <= readers.MOST


def test_who_finds_no_reader_free_is_told_to_try_again() -> None:
    alone = Readers(most=1)
    try:
        with ThreadPoolExecutor(1) as thread:
            busy = thread.submit(alone.call, f"{WORK}:tell_process", 2)
            eventually(lambda: alone._free._value == 0)
            with pytest.raises(ProviderUnavailable) as refused:
                alone.call(f"{WORK}:echo", None, seconds=0.1)
            assert refused.value.details["may_pass"]
            assert busy.result()
    finally:
        alone.close()


def test_a_short_text_waits_for_no_long_one() -> None:
    both = Readers(most=2)
    long = threading.Event()

    def answer(question: Any) -> bytes:
        long.wait()
        return b"at last"

    def ask_long() -> Frame:
        return both.call(f"{WORK}:ask_back", 1, answer=answer, is_long=True)

    try:
        with ThreadPoolExecutor(2) as threads:
            waiting = [threads.submit(ask_long) for _ in range(2)]
            eventually(lambda: both._free_for_long._value == 0)
            assert both.call(f"{WORK}:echo", "short", seconds=DEADLINE).value == "short"
            long.set()
            assert [each.result().value for each in waiting] == ["at last", "at last"]
    finally:
        both.close()


def test_what_takes_too_long_is_killed_and_the_next_call_has_another_reader(
    pool: Readers,
) -> None:
    with pytest.raises(ProviderUnavailable) as failed:
        pool.call(f"{WORK}:spin", None, seconds=2)
    assert failed.value.details["reason"] == "too_slow"
    assert pool.call(f"{WORK}:echo", "still here").value == "still here"


def test_a_failure_tells_nothing_of_how(pool: Readers) -> None:
    with pytest.raises(ProviderUnavailable) as failed:
        pool.call(f"{WORK}:fail", None)
    assert "secret" not in failed.value.message
    assert pool.call(f"{WORK}:echo", 1).value == 1


def test_too_much_memory_ends_the_reader_alone(pool: Readers) -> None:
    with pytest.raises(ProviderUnavailable):
        pool.call(f"{WORK}:eat_memory", None)
    assert pool.call(f"{WORK}:echo", 1).value == 1


def test_an_idle_reader_ends_and_the_next_call_starts_another() -> None:
    with open_readers(idle_seconds=0.2) as short:
        first = short.call(f"{WORK}:tell_process", 0).value["pid"]
        eventually(lambda: not short._idle[0].is_awake())
        assert short.call(f"{WORK}:tell_process", 0).value["pid"] != first


def test_readers_end_with_their_process_even_when_it_is_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout
    reader = int(parent.stdout.readline())
    assert is_alive(reader)
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    eventually(lambda: not is_alive(reader))


def test_closed_readers_are_gone_and_texts_are_read_in_place_again() -> None:
    before = opened_readers()
    with open_readers() as own:
        pid = own.call(f"{WORK}:tell_process", 0).value["pid"]
        assert opened_readers() is own
    assert opened_readers() is before
    eventually(lambda: not is_alive(pid))


# Hostile texts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "length"),
    [
        *((name, 40_000) for name in DEAREST),
        ("codes", 300_000),
        ("quotes", 1_000_000),
        ("brackets", 1_000_000),
    ],
)
def test_a_hostile_text_is_read_in_a_time_that_grows_with_its_length_alone(
    pool: Readers, name: str, length: int
) -> None:
    # It takes a fraction of a second of the processor, over which the kernel counts ten.
    assert pool.call(f"{WORK}:read_hostile", [name, length], seconds=20).value is not None


def test_a_document_of_many_paragraphs_is_read_in_a_time_that_grows_with_them_alone(
    pool: Readers, tmp_path: Path
) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(made.docx("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 100_000))
    assert pool.call(f"{WORK}:read_docx", str(path), seconds=20).value == 299_998
