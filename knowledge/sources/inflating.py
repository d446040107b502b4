"""Bodies that come compressed, undone in small pieces so that a bomb never fills the memory."""

import zlib
from collections.abc import Iterator

from knowledge.errors import IngestFailed

PIECE = 65_536
_PLAIN = frozenset({"", "identity"})
_GZIP = frozenset({"gzip", "x-gzip"})
_GZIP_BITS, _ZLIB_BITS, _RAW_BITS = 31, 15, -15


class Inflater:
    """Undoes one Content-Encoding; the caller counts what comes out."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        if self._encoding not in _PLAIN | _GZIP | {"deflate"}:
            raise _unreadable()
        self._head = b""
        self._stream: zlib._Decompress | None = None

    def inflate(self, data: bytes) -> Iterator[bytes]:
        """What these bytes hold, in pieces of at most 64 KiB."""
        if self._encoding in _PLAIN:
            yield data
            return
        data = self._head + data
        if len(data) < 2 and self._stream is None:
            self._head = data
            return
        self._head = b""
        try:
            yield from self._pieces(data)
        except zlib.error:
            raise _unreadable() from None

    def finish(self) -> None:
        """Fails when the compressed body was cut short."""
        if self._head or (self._stream is not None and not self._stream.eof):
            raise _unreadable()

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        while True:
            if self._stream is None or self._stream.eof:
                if self._stream is not None and not self._begins_another(data):
                    return  # padding after the end, which everybody ignores
                self._stream = zlib.decompressobj(self._bits(data))
            piece = self._stream.decompress(data, PIECE)
            if piece:
                yield piece
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            if not data and len(piece) < PIECE:
                return

    def _begins_another(self, data: bytes) -> bool:
        return self._encoding in _GZIP and data.startswith(b"\x1f")

    def _bits(self, data: bytes) -> int:
        if self._encoding in _GZIP:
            return _GZIP_BITS
        # "deflate" is zlib's format by the book, and bare on some servers.
        has_header = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
        return _ZLIB_BITS if has_header else _RAW_BITS


def _unreadable() -> IngestFailed:
    return IngestFailed(
        "The server sent a compressed answer that cannot be read; try again later.",
        reason="server_error",
        may_pass=True,
    )
