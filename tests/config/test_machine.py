from pathlib import Path

import pytest

from config.machine import _container_limits, _memory, server_settings, usable_memory

GB = 1024**3


@pytest.mark.parametrize(
    ("total", "shared_buffers", "work_mem"),
    [(GB // 4, "128MB", "4MB"), (8 * GB, "512MB", "20MB"), (512 * GB, "8192MB", "64MB")],
)
def test_memory_settings_follow_the_machine_within_bounds(
    total: int, shared_buffers: str, work_mem: str
) -> None:
    settings = _memory(total)
    assert settings["shared_buffers"] == shared_buffers
    assert settings["work_mem"] == work_mem


def test_this_machine_gets_settings_below_its_memory() -> None:
    shared = int(server_settings()["shared_buffers"].removesuffix("MB")) * 1024**2
    assert shared < usable_memory()


def test_the_tightest_limit_of_a_container_or_of_what_holds_it_counts(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (inner / "memory.max").write_text("max\n")
    (inner.parent / "memory.max").write_text(f"{2 * GB}\n")
    membership = tmp_path / "membership"
    membership.write_text("0::/outer/inner\n")
    assert list(_container_limits(membership, tmp_path)) == [2 * GB]


def test_a_limit_of_the_older_control_groups_counts(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text(f"{GB}\n")
    membership = tmp_path / "membership"
    membership.write_text("4:memory:/path/on/the/host\n3:cpu:/\n0::/\n")
    assert list(_container_limits(membership, tmp_path)) == [GB]
