"""What is counted for operators. Labels are few and known: never an address, an id or a name.

Web and worker are processes of their own, and /metrics answers for both: each writes its numbers to
files in one folder, and the process that answers adds them up.
"""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, time

from prometheus_client import CollectorRegistry, Counter, Histogram, values
from prometheus_client.multiprocess import MultiProcessCollector

from knowledge.monitoring.model_errors import count_error

_QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LONG = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1800.0)

_here = CollectorRegistry()

# Each has labels, so that its values are made at first use, and not before `share_metrics`.
HTTP_REQUESTS = Counter(
    "quarry_http_requests",
    "HTTP requests answered; status 499 is a client that left before the answer.",
    ["method", "route", "status"],
    registry=_here,
)
HTTP_SECONDS = Histogram(
    "quarry_http_request_seconds",
    "Seconds from an HTTP request to the end of its answer.",
    ["method", "route"],
    buckets=_QUICK,
    registry=_here,
)
CALLS = Counter(
    "quarry_calls",
    "Calls by tokens over REST and MCP, by ask and outcome (ok or an error code).",
    ["edge", "ask", "outcome"],
    registry=_here,
)
CALL_SECONDS = Histogram(
    "quarry_call_seconds",
    "Seconds that a call by a token took.",
    ["edge", "ask"],
    buckets=_QUICK,
    registry=_here,
)
TOKENS_REFUSED = Counter(
    "quarry_tokens_refused",
    "Calls refused for their token: missing, malformed, unknown, expired or revoked.",
    ["reason"],
    registry=_here,
)
SEARCH_SECONDS = Histogram(
    "quarry_search_seconds",
    "Seconds that the search engine took, by the mode asked for; outcome ok, degraded or failed.",
    ["mode", "outcome"],
    buckets=_QUICK,
    registry=_here,
)
INGESTED = Counter(
    "quarry_ingested",
    "Texts, links and files taken in, by kind; outcome ready, queued for a job, or failed.",
    ["kind", "outcome"],
    registry=_here,
)
JOBS = Counter(
    "quarry_jobs",
    "Jobs that a worker ran; outcome done, retried or dead.",
    ["queue", "actor", "outcome"],
    registry=_here,
)
JOB_SECONDS = Histogram(
    "quarry_job_seconds", "Seconds that a job ran.", ["actor"], buckets=_LONG, registry=_here
)
PROVIDER_SECONDS = Histogram(
    "quarry_provider_seconds",
    "Seconds that an embedder, transcriber or summarizer took.",
    ["provider", "call"],
    buckets=_LONG,
    registry=_here,
)
PROVIDER_ERRORS = Counter(
    "quarry_provider_errors",
    "Calls of an embedder, transcriber or summarizer that failed, by the kind of error.",
    ["provider", "call", "error"],
    registry=_here,
)


@contextmanager
def provider_call(
    provider: str, call: str, *, expected: type[Exception] | tuple[()] = ()
) -> Iterator[None]:
    """Time a call of a provider, and count its error unless that is an expected one."""
    started = perf_counter()
    try:
        yield
    except expected:
        raise
    except Exception as error:
        PROVIDER_ERRORS.labels(provider, call, type(error).__name__).inc()
        count_error(provider, error)
        raise
    finally:
        PROVIDER_SECONDS.labels(provider, call).observe(perf_counter() - started)


# Several processes, one answer ----------------------------------------------------------------

_WEEK_SEC = 7 * 24 * 3600
_shared: list[Path] = []
_file_names: list[str] = []


def share_metrics(folder: Path, *, is_first: bool = False) -> None:
    """Keep this process's numbers in `folder`, from now on and for as long as it lives.

    A dead process's numbers stay, as a counter must not fall, until the first process of the
    next start removes them; should there never be one, until nobody has written for a week.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_dead(folder, idle_sec=0 if is_first else _WEEK_SEC)
    # Not the process id alone: containers that share the folder may have the same ones.
    _file_names[:] = [secrets.token_hex(8)]
    _hold_lock(folder / f"{_file_names[0]}.lock")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    if not _shared:
        # When the name changes, as in a fork, what was counted so far stays with the one before.
        values.ValueClass = values.MultiProcessValue(lambda: _file_names[0])  # type: ignore[no-untyped-call]
    _shared[:] = [folder]


def collector() -> CollectorRegistry:
    """A registry with the numbers of every process that shares them, or of this one alone."""
    if not _shared:
        return _here
    together = CollectorRegistry()
    MultiProcessCollector(together, str(_shared[0]))  # type: ignore[no-untyped-call]
    return together


FIGURES = ".figures"


def leave_figures(figures: bytes) -> None:
    """Leave for others what this process measures of itself, in place of what it left before."""
    if _shared:
        path = _shared[0] / f"{_file_names[0]}{FIGURES}"
        unfinished = path.with_suffix(".unfinished")
        with suppress(OSError):  # a full disk must stop nothing but the figures
            unfinished.write_bytes(figures)
            os.replace(unfinished, path)


def figures_of_others() -> Iterator[bytes]:
    """What each other living process left last."""
    for lock in _shared[0].glob("*.lock") if _shared else ():
        if lock.stem != _file_names[0] and _is_alive(lock):
            with suppress(FileNotFoundError):
                yield lock.with_suffix(FIGURES).read_bytes()


def _hold_lock(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # left open: the kernel gives it back when we end


def _remove_dead(folder: Path, *, idle_sec: float) -> None:
    for lock in folder.glob("*.lock"):
        if not _is_alive(lock):
            left = [lock.with_suffix(FIGURES)] if lock.with_suffix(FIGURES).exists() else []
            with suppress(FileNotFoundError):  # another process removes them
                _remove_idle([*folder.glob(f"*_{lock.stem}.db"), *left, lock], idle_sec)


def _is_alive(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _remove_idle(files: list[Path], idle_sec: float) -> None:
    if not idle_sec or all(time() - file.stat().st_mtime >= idle_sec for file in files):
        for file in files:
            file.unlink(missing_ok=True)
