"""What every file store does, on disk or in S3."""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from knowledge.errors import IngestFailed, ProviderUnavailable

_KEY = re.compile(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedPut:
    """A signed address: having it is the right to put one file, without another credential."""

    url: str
    """Absolute, or a path of this server when the store is its own disk."""
    headers: Mapping[str, str]
    """To be sent just so: they are part of what was signed."""
    method: str = "PUT"


class FileStore(Protocol):
    """Files by key. A key is made by us and never by a caller; a file is there whole or not."""

    def sign_put(self, key: str, *, media_type: str, size: int, expires_at: datetime) -> SignedPut:
        """Let the holder put a file of this type and of just so many bytes, once, until then."""

    def put(self, key: str, source: bytes | Path) -> None:
        """Keep these bytes, or a copy of this file, in place of what was there."""

    def size_of(self, key: str) -> int | None:
        """In bytes; None when there is no such file."""

    def head(self, key: str, count: int) -> bytes:
        """The first bytes, at most so many."""

    def open_read(self, key: str, *, start: int = 0) -> AbstractContextManager[BinaryIO]:
        """The file as a stream that is read once, from this byte on."""

    def local_copy(self, key: str) -> AbstractContextManager[Path]:
        """The file on this machine's disk, to be read and never written."""

    def delete(self, key: str) -> None:
        """Have no such file; that there was none is no error."""


def check_key(key: str) -> str:
    """The key, known to lead nowhere but into the store."""
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key of a stored file.")
    return key


def file_gone() -> IngestFailed:
    return IngestFailed("The stored file is gone; upload it again.", reason="gone")


def out_of_order() -> ProviderUnavailable:
    return ProviderUnavailable(
        "The file store does not work at the moment; try again, then tell the operator.",
        may_pass=True,
    )
