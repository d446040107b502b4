"""Files in a folder of this machine, and the signatures by which they may be put there."""

import logging
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.core.signing import BadSignature, Signer

from knowledge.storage.files import SignedPut, check_key, file_gone, out_of_order

logger = logging.getLogger(__name__)

PUT_PATH = "/api/v1/uploads/{}/file"
"""The route that takes what `sign_put` signed; the last part of the key is named in it."""

_COPIED_AT_A_TIME = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LocalStore:
    """One file for each key, readable by this user alone."""

    folder: Path

    def sign_put(self, key: str, *, media_type: str, size: int, expires_at: datetime) -> SignedPut:
        # Type and size are not in it: whoever takes the file knows what was promised.
        signed = _text_to_sign(check_key(key), expires_at)
        path = PUT_PATH.format(key.rpartition("/")[2])
        return SignedPut(
            url=f"{path}?signature={_signer().signature(signed)}",
            headers={"Content-Type": media_type},
        )

    def is_signed(self, key: str, *, expires_at: datetime, signature: str) -> bool:
        """Whether `sign_put` gave this signature, for this key and until then."""
        signed = _text_to_sign(key, expires_at)
        try:
            _signer().unsign(f"{signed}{_signer().sep}{signature}")
        except BadSignature:
            return False
        return True

    def draft(self, key: str) -> "Draft":
        """A file to write to; nobody sees it under its key before it is kept."""
        path = self._path(key)
        with _failures_as_outages():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            place = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return Draft(path, place, os.fdopen(descriptor, "wb"))

    def put(self, key: str, source: bytes | Path) -> None:
        draft = self.draft(key)
        try:
            if isinstance(source, bytes):
                draft.write(source)
            else:
                with source.open("rb") as file:
                    shutil.copyfileobj(file, draft, _COPIED_AT_A_TIME)
            draft.keep()
        finally:
            draft.drop()

    def size_of(self, key: str) -> int | None:
        with _failures_as_outages():
            try:
                return self._path(key).stat().st_size
            except FileNotFoundError:
                return None

    def head(self, key: str, count: int) -> bytes:
        with self.open_read(key) as file:
            return file.read(count)

    @contextmanager
    def open_read(self, key: str, *, start: int = 0) -> Iterator[BinaryIO]:
        with self.local_copy(key) as path, path.open("rb") as file:
            file.seek(start)
            yield file

    @contextmanager
    def local_copy(self, key: str) -> Iterator[Path]:
        if self.size_of(key) is None:
            raise file_gone()
        yield self._path(key)

    def delete(self, key: str) -> None:
        path = self._path(key)
        with _failures_as_outages():
            for place in (path, *_drafts_of(path)):
                place.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / check_key(key)


@dataclass(slots=True)
class Draft:
    """Bytes on their way to a key: there whole once they are kept, or not at all."""

    path: Path
    place: Path
    file: BinaryIO

    def write(self, data: bytes) -> None:
        with _failures_as_outages():
            self.file.write(data)

    def fsync(self) -> None:
        """Have every byte on the disk, so that to keep the file takes no time."""
        with _failures_as_outages():
            self.file.flush()
            os.fsync(self.file.fileno())

    def keep(self) -> None:
        """Move the file to its place, and delete the other drafts of the same file."""
        self.fsync()
        with _failures_as_outages():
            self.place.replace(self.path)
            for folder in self.path.parents[:2]:
                _fsync_folder(folder)
            for place in _drafts_of(self.path):
                place.unlink(missing_ok=True)

    def drop(self) -> None:
        """Leave nothing behind, unless the file was kept."""
        with _failures_as_outages():
            self.place.unlink(missing_ok=True)
            self.file.close()


def _text_to_sign(key: str, expires_at: datetime) -> str:
    return f"{key} {expires_at.isoformat()}"


def _signer() -> Signer:
    return Signer(salt="knowledge.storage.local")


def _drafts_of(path: Path) -> list[Path]:
    return list(path.parent.glob(f".{path.name}.*.part"))


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _failures_as_outages() -> Iterator[None]:
    """A full or broken disk, in our words."""
    try:
        yield
    except OSError as error:
        logger.error("The file store failed: %s", error)
        raise out_of_order() from error
