"""Memory and processor settings for the bundled Postgres, sized to this machine."""

import os
from collections.abc import Iterator
from pathlib import Path

_MB = 1024 * 1024
CONNECTIONS = 100
"""Those of the bundled Postgres, and what others allow unless they are told otherwise."""
_WEB_PROCESS = 2048 * _MB
"""The memory for which there may be one more web process: itself, its readers and its share of
Postgres."""
_MOST_WEB_PROCESSES = 4


def server_settings() -> dict[str, str]:
    """Settings for a server that shares the machine with the processes that use it."""
    return {**_memory(usable_memory()), **_processors(len(os.sched_getaffinity(0)))}


def web_processes() -> int:
    """As many as help: for each core that answers callers, Postgres needs another one."""
    cores = len(os.sched_getaffinity(0))
    return max(1, min(cores // 2, usable_memory() // _WEB_PROCESS, _MOST_WEB_PROCESSES))


def usable_memory() -> int:
    """Bytes this process may use: the machine's, or its container's where that is less."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([physical, *_container_limits(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))])


def _memory(total: int) -> dict[str, str]:
    # Its tables take 20 MB for each gigabyte before anything is read. The kernel caches the files,
    # too: searches of a library 15 times as large as this cost Postgres 5 % more CPU.
    shared = _within(total // 16, 128, 8192)
    return {
        "max_connections": str(CONNECTIONS),
        "shared_buffers": f"{shared}MB",
        "effective_cache_size": f"{max(shared, total * 6 // 10 // _MB)}MB",
        "work_mem": f"{_within(total // 4 // CONNECTIONS, 4, 64)}MB",
        "maintenance_work_mem": f"{_within(total // 16, 64, 2048)}MB",
        # Containers get 64 MB of /dev/shm, too little for a parallel index build.
        "dynamic_shared_memory_type": "sysv",
    }


def _processors(count: int) -> dict[str, str]:
    return {
        "max_worker_processes": str(max(8, count)),
        "max_parallel_workers": str(count),
        "max_parallel_workers_per_gather": str(min(4, count // 2)),
        "max_parallel_maintenance_workers": str(min(4, count // 2)),
    }


def _within(size: int, least: int, most: int) -> int:
    return max(least, min(most, size // _MB))


def _container_limits(membership: Path, mount: Path) -> Iterator[int]:
    """Memory limits of this process's control groups and of every group around them."""
    lines = membership.read_text().splitlines() if membership.exists() else []
    for controllers, path in (line.split(":", 2)[1:] for line in lines):
        if controllers == "":
            yield from _limits_upwards(mount, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _limits_upwards(mount / "memory", path, "memory.limit_in_bytes")


def _limits_upwards(mount: Path, path: str, name: str) -> Iterator[int]:
    group = mount / path.strip("/")
    for folder in [group, *group.parents]:
        # Inside a container the path may be the host's; the limit is then at the mount.
        if folder.is_relative_to(mount) and (folder / name).is_file():
            limit = (folder / name).read_text().strip()
            if limit.isdigit():
                yield int(limit)
