"""The script that installs Quarry for `make run`."""

import subprocess
import sys
from pathlib import Path

import pytest

from config import install
from tests.support.up import REPOSITORY

PIP = """
import sys
for number in range(1, 41):
    print(f"Collecting package-{number}==1.0 (from -r x)")
print("Installing collected packages: many")
sys.exit(int(sys.argv[-1].endswith("bad.txt")))
"""


UV = """#!/bin/sh
echo "uv $*"
exit %s
"""


@pytest.mark.parametrize(("name", "code"), [("good.txt", 0), ("bad.txt", 1)])
def test_it_says_how_far_it_is_now_and_then_and_ends_as_pip_does(
    tmp_path: Path, name: str, code: int
) -> None:
    (tmp_path / "pip.py").write_text(PIP)
    ended = install_into(tmp_path, name)
    lines = ended.stdout.splitlines()
    assert lines[:2] == ["Fetching 20 of 40: package-20", "Fetching 40 of 40: package-40"]
    assert (ended.returncode, len(lines)) == (code, 4 - code)


@pytest.mark.parametrize("code", [0, 1])
def test_uv_installs_where_it_is_there_and_pip_where_that_fails(tmp_path: Path, code: int) -> None:
    (tmp_path / "pip.py").write_text(PIP)
    (tmp_path / "uv").write_text(UV % code)
    (tmp_path / "uv").chmod(0o755)
    ended = install_into(tmp_path, "good.txt")
    first, *others = ended.stdout.splitlines()
    assert first == (
        f"uv pip install --python {sys.executable} --no-deps --require-hashes -r good.txt"
    )
    assert ended.returncode == 0
    assert ("Fetching 40 of 40: package-40" in others) == bool(code)


def install_into(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """What the script does with a file of 40 packages; programs are looked for in the folder."""
    pinned = "".join(f"package-{number}==1.0 \\\n    --hash=sha256:0\n" for number in range(40))
    (folder / name).write_text(pinned)
    return subprocess.run(
        [sys.executable, REPOSITORY / "config" / "install.py", name],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PYTHONUTF8": "1", "PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_total_is_what_the_requirements_pin() -> None:
    pinned = install.PINNED.findall((REPOSITORY / "requirements.txt").read_text())
    assert len(pinned) == len(set(pinned)) > 100
