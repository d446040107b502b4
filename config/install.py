"""Installs a requirements file, by uv where it is there, and says how far it is; for `make`.

Nothing but the file's own list is installed: it leaves out what packages ask for and Quarry makes
no use of (`exclude-dependencies` in pyproject.toml).
Nothing is compiled ahead: that takes a minute and 80 MB for modules of which most are never loaded,
and the first start keeps those that it loads.
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[.*\])?==", re.MULTILINE)
FETCHED = re.compile(r"^(?:Collecting|Processing|Requirement already satisfied:) (\S+)")
EXACTLY = ("--no-deps", "--require-hashes", "-r")
LINE_EVERY = 20
"""Packages between two lines where there is no terminal to write over the last one."""


def main(requirements: str) -> int:
    started = time.monotonic()
    uv = shutil.which("uv")
    is_done = bool(uv) and _install_with_uv(str(uv), requirements)
    code = 0 if is_done else _install_with_pip(requirements)
    if code == 0:
        _say_line(f"Installed in {time.monotonic() - started:.0f} seconds.")
    return code


def _install_with_uv(uv: str, requirements: str) -> bool:
    """Whether it did; it shows its own progress."""
    command = [uv, "pip", "install", "--python", sys.executable, *EXACTLY, requirements]
    if subprocess.run(command).returncode == 0:
        return True
    _say_line("uv could not install it; trying with pip, which may know other package indexes…")
    return False


def _install_with_pip(requirements: str) -> int:
    total = len(PINNED.findall(Path(requirements).read_text()))
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--no-compile", *EXACTLY, requirements]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as pip:
        count = 0
        for line in pip.stdout or ():
            if found := FETCHED.match(line):
                count += 1
                _say_count(count, total, _package(found[1]))
            elif line.startswith("Installing collected packages"):
                _say_line("Unpacking them…")
    return pip.returncode


def _package(told: str) -> str:
    return re.split(r"[=<>~! ]", told.rpartition("/")[2])[0]


def _say_count(count: int, total: int, package: str) -> None:
    line = f"Fetching {count} of {total}: {package}"
    if sys.stdout.isatty():
        sys.stdout.write(f"\r\033[K{line}")
        sys.stdout.flush()
    elif count % LINE_EVERY == 0:
        _say_line(line)


def _say_line(line: str) -> None:
    start = "\r\033[K" if sys.stdout.isatty() else ""
    sys.stdout.write(f"{start}{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
