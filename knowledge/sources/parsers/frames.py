"""What goes through a pipe to or from a reader: a JSON value, and bytes as they are."""

import json
import struct
from typing import IO, Any, NamedTuple

_SIZES = struct.Struct("!II")
_SIZE = struct.Struct("!Q")
LONGEST = 256_000_000


class Frame(NamedTuple):
    """One message."""

    value: Any
    blobs: tuple[bytes, ...] = ()


def send_frame(pipe: IO[bytes], frame: Frame) -> None:
    """Write a message whole."""
    value = json.dumps(frame.value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    head = _SIZES.pack(len(value), len(frame.blobs))
    sizes = b"".join(_SIZE.pack(len(blob)) for blob in frame.blobs)
    pipe.write(head + sizes + value)
    for blob in frame.blobs:
        pipe.write(blob)
    pipe.flush()


def receive_frame(pipe: IO[bytes]) -> Frame:
    """Read a message whole; EOFError if the other end is gone."""
    size, count = _SIZES.unpack(_read(pipe, _SIZES.size))
    sizes = [_SIZE.unpack(_read(pipe, _SIZE.size))[0] for _ in range(count)]
    value = json.loads(_read(pipe, size).decode("utf-8", "surrogatepass"))
    return Frame(value, tuple(_read(pipe, each) for each in sizes))


def _read(pipe: IO[bytes], size: int) -> bytes:
    if size > LONGEST:
        raise EOFError
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data
