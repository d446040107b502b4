"""How long a recording at an address is, told by a few of its bytes before it is fetched."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from django.conf import settings

from knowledge.errors import IngestFailed
from knowledge.sources import audio, http

HEAD = 256_000
PIECE = 64_000
LONGEST_PIECE = 8_000_000
"""The index of an MP4 of 12 hours is half as long; it may stand at the end of the file."""
LONGEST_WHOLE = 16_000_000
"""So much is read from a server that gives no ranges, where the head does not tell the length."""
SECONDS = 15
MOST_BOXES = 32

_RANGE = re.compile(r"bytes\s+(\d+)-\d+/(\d+)", re.IGNORECASE)


def remote_length(url: str) -> float | None:
    """The seconds of a recording; None where a few of its bytes cannot tell them."""
    asked = {"Range": f"bytes=0-{HEAD - 1}"}
    try:
        with (
            tempfile.NamedTemporaryFile() as file,
            http.stream(url, headers=asked, max_bytes=_most_bytes(), seconds=SECONDS) as (
                answer,
                pieces,
            ),
        ):
            sample = _Sample(answer, pieces, file)
            return audio.measure(Path(file.name)) if sample.has_all_needed() else None
    except IngestFailed:
        return None


class _Span(NamedTuple):
    start: int
    end: int


class _Sample:
    """A file as long as the recording, which has only the bytes that tell how long it lasts."""

    def __init__(self, answer: http.Answer, pieces: Iterator[bytes], file: IO[bytes]) -> None:
        self._answer = answer
        self._pieces = pieces
        self._file = file
        self._held: list[_Span] = []
        self._size = _size_in_headers(answer)
        self._read_on(HEAD)

    def has_all_needed(self) -> bool:
        """Whether the bytes that tell the length are there now; those missing are asked for."""
        if not self._size or self._size > _most_bytes():
            return False
        self._file.truncate(self._size)
        return all(self._obtain(span) for span in self._spans_to_read())

    def _read_on(self, until: int) -> None:
        """Read the answer's body on; where it ends, all of the recording is known."""
        end = self._held[0].end if self._held else 0
        for piece in self._pieces:
            self._put(end, piece)
            end += len(piece)
            if end >= until:
                break
        else:
            self._size = self._size if self._answer.status == 206 else end
        self._held.insert(0, _Span(0, end))

    def _put(self, start: int, piece: bytes) -> None:
        self._file.seek(start)
        self._file.write(piece)
        self._file.flush()

    def _read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)

    def _spans_to_read(self) -> Iterator[_Span]:
        """Where a container tells its length, one place after the other: sizes lead to them."""
        size = self._size or 0
        head = self._read(0, 12)
        if head[4:8] == b"ftyp":
            yield from self._index_of_mp4(size)
        elif head.startswith(b"ID3"):  # a picture may stand before the sound
            start = 10 + _seven_bits_a_byte(head[6:10])
            yield _Span(start, min(start + PIECE, size))
        elif head.startswith(b"OggS"):
            yield _Span(max(0, size - PIECE), size)

    def _index_of_mp4(self, size: int) -> Iterator[_Span]:
        start = 0
        for _ in range(MOST_BOXES):
            yield _Span(start, min(start + 16, size))
            head = self._read(start, 16)
            length = int.from_bytes(head[:4])
            if length == 1:
                length = int.from_bytes(head[8:16])
            end = start + length if length else size
            if head[4:8] == b"moov":
                yield _Span(start, min(end, size))
            if head[4:8] == b"moov" or not start < end < size:
                return
            start = end

    def _obtain(self, span: _Span) -> bool:
        if self._has(span):
            return True
        if span.end - span.start > LONGEST_PIECE or span.start >= span.end:
            return False
        if self._answer.status != 206:
            self._read_on(LONGEST_WHOLE)
            return self._has(span)
        return self._fetch(_Span(span.start, max(span.end, span.start + PIECE)))

    def _has(self, span: _Span) -> bool:
        return any(held.start <= span.start and span.end <= held.end for held in self._held)

    def _fetch(self, span: _Span) -> bool:
        answer = http.fetch(
            self._answer.url,
            headers={"Range": f"bytes={span.start}-{span.end - 1}"},
            max_bytes=LONGEST_PIECE + PIECE,
            seconds=SECONDS,
        )
        told = _RANGE.match(answer.headers.get("content-range", ""))
        if answer.status != 206 or not told or int(told[1]) != span.start:
            return False
        self._put(span.start, answer.body)
        self._held.append(_Span(span.start, span.start + len(answer.body)))
        return True


def _seven_bits_a_byte(written: bytes) -> int:
    """A number as ID3 writes it, with the highest bit of each byte unused."""
    number = 0
    for byte in written:
        number = number << 7 | byte & 127
    return number


def _most_bytes() -> int:
    return int(settings.QUARRY_MAX_DOWNLOAD_MB) * 1_000_000


def _size_in_headers(answer: http.Answer) -> int | None:
    """The bytes of the whole recording, as far as the server says."""
    if told := _RANGE.match(answer.headers.get("content-range", "")):
        return int(told[2])
    length = answer.headers.get("content-length", "")
    is_plain = answer.status == 200 and not answer.headers.get("content-encoding")
    return int(length) if is_plain and length.isdecimal() else None
