"""Installs a requirements file with pip and says how far it is; a script for the Makefile."""

import re
import subprocess
import sys
import time
from pathlib import Path

PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[.*\])?==", re.MULTILINE)
FETCHED = re.compile(r"^(?:Collecting|Processing|Requirement already satisfied:) (\S+)")
LINE_EVERY = 20
"""Packages between two lines where there is no terminal to write over the last one."""


def main(requirements: str) -> int:
    total = len(PINNED.findall(Path(requirements).read_text()))
    started = time.monotonic()
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--require-hashes", "-r", requirements]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as pip:
        count = 0
        for line in pip.stdout or ():
            if found := FETCHED.match(line):
                count += 1
                _say_count(count, total, _package(found[1]))
            elif line.startswith("Installing collected packages"):
                _say_line("Unpacking them, which takes a minute or two…")
    if pip.returncode == 0:
        _say_line(f"Installed in {time.monotonic() - started:.0f} seconds.")
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
