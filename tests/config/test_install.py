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


@pytest.mark.parametrize(("name", "code"), [("good.txt", 0), ("bad.txt", 1)])
def test_it_says_how_far_it_is_now_and_then_and_ends_as_pip_does(
    tmp_path: Path, name: str, code: int
) -> None:
    (tmp_path / "pip.py").write_text(PIP)
    pinned = "".join(f"package-{number}==1.0 \\\n    --hash=sha256:0\n" for number in range(40))
    (tmp_path / name).write_text(pinned)
    ended = subprocess.run(
        [sys.executable, REPOSITORY / "config" / "install.py", name],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert lines[:2] == ["Fetching 20 of 40: package-20", "Fetching 40 of 40: package-40"]
    assert (ended.returncode, len(lines)) == (code, 4 - code)


def test_the_total_is_what_the_requirements_pin() -> None:
    pinned = install.PINNED.findall((REPOSITORY / "requirements.txt").read_text())
    assert len(pinned) == len(set(pinned)) > 100
