"""Zip archives of any size in little memory: written as a stream, read by the names one knows."""

import io
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO

Member = tuple[str, bytes | Iterable[bytes]]
"""A name and its data: whole, or in pieces when nobody knows how many there will be."""

_PIECE = 65_536
_UTF8, _SIZES_FOLLOW, _ENCRYPTED = 0x800, 0x8, 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_PLAIN, _ZIP64 = 20, 45
_MADE_BY = 3 << 8 | _ZIP64
_READABLE_FILE = 0o100644 << 16
_MIDNIGHT, _FIRST_OF_1980 = 0, 0x21
_MAX16, _MAX32 = 0xFFFF, 0xFFFFFFFF

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")


# Writing --------------------------------------------------------------------------------------


def zip_members(members: Iterable[Member]) -> Iterator[bytes]:
    """The archive, piece by piece; the same members always give the same bytes."""
    # On disk once it grows: a library has as many members as it has items.
    with SpooledTemporaryFile(max_size=1 << 20) as directory:
        at = count = 0
        for name, data in members:
            member = _ZipMember(name.encode(), at)
            for piece in member.pieces(data):
                at += len(piece)
                yield piece
            directory.write(member.entry())
            count += 1
        size = directory.tell()
        directory.seek(0)
        while piece := directory.read(_PIECE):
            yield piece
        yield _end(count, size, at)


class _ZipMember:
    """One member on its way out, and what the directory will say of it."""

    def __init__(self, name: bytes, offset: int) -> None:
        self._name = name
        self._offset = offset
        self._flags = _UTF8
        self._crc = self._size = self._packed_size = 0

    def pieces(self, data: bytes | Iterable[bytes]) -> Iterator[bytes]:
        if isinstance(data, bytes):
            packed = b"".join(self._deflate([data]))
            yield self._header() + packed
            return
        self._flags |= _SIZES_FOLLOW
        yield self._header()
        yield from self._deflate(data)
        yield struct.pack("<4sIQQ", b"PK\x07\x08", self._crc, self._packed_size, self._size)

    def entry(self) -> bytes:
        """The member's row in the directory."""
        sizes = (self._packed_size, self._size, self._offset)
        extra = b""
        if max(sizes) >= _MAX32:
            extra = struct.pack("<2H3Q", 1, 24, self._size, self._packed_size, self._offset)
            sizes = (_MAX32, _MAX32, _MAX32)
        packed_size, size, offset = sizes
        return (
            _CENTRAL.pack(
                *(b"PK\x01\x02", _MADE_BY, _ZIP64 if extra else self._version),
                *(self._flags, zipfile.ZIP_DEFLATED, _MIDNIGHT, _FIRST_OF_1980, self._crc),
                *(packed_size, size, len(self._name), len(extra), 0, 0, 0),
                *(_READABLE_FILE, offset),
            )
            + self._name
            + extra
        )

    @property
    def _version(self) -> int:
        return _ZIP64 if self._flags & _SIZES_FOLLOW else _PLAIN

    def _header(self) -> bytes:
        crc, packed_size, size, extra = self._crc, self._packed_size, self._size, b""
        if self._flags & _SIZES_FOLLOW:
            crc, packed_size, size = 0, _MAX32, _MAX32
            extra = struct.pack("<2H2Q", 1, 16, 0, 0)
        return (
            _LOCAL.pack(
                *(b"PK\x03\x04", self._version, self._flags, zipfile.ZIP_DEFLATED),
                *(_MIDNIGHT, _FIRST_OF_1980, crc, packed_size, size),
                *(len(self._name), len(extra)),
            )
            + self._name
            + extra
        )

    def _deflate(self, data: Iterable[bytes]) -> Iterator[bytes]:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        for plain in data:
            self._crc = zlib.crc32(plain, self._crc)
            self._size += len(plain)
            yield from self._count_and_yield(packer.compress(plain))
        yield from self._count_and_yield(packer.flush())

    def _count_and_yield(self, packed: bytes) -> Iterator[bytes]:
        self._packed_size += len(packed)
        if packed:
            yield packed


def _end(count: int, size: int, offset: int) -> bytes:
    end64 = b""
    if count >= _MAX16 or max(size, offset) >= _MAX32:
        numbers = (count, count, size, offset)
        end64 = _END64.pack(b"PK\x06\x06", _END64.size - 12, _MADE_BY, _ZIP64, 0, 0, *numbers)
        end64 += _LOCATOR.pack(b"PK\x06\x07", 0, offset + size, 1)
        count, size, offset = _MAX16, _MAX32, _MAX32
    return end64 + _END.pack(b"PK\x05\x06", 0, 0, count, count, size, offset, 0)


# Reading --------------------------------------------------------------------------------------


class Archive:
    """The members of these names in an archive that anybody may have made.

    Nothing else is kept of its directory, which may be longer than memory. What cannot be read
    is a BadZipFile.
    """

    def __init__(
        self, file: BinaryIO, names: Collection[str], *, most_entries: int | None = None
    ) -> None:
        self._file = file
        self.length = file.seek(0, io.SEEK_END)
        self._members = _members(file, frozenset(names), most_entries)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def inflated_size(self) -> int:
        """What its members say they inflate to; no more than that is ever read of them."""
        return sum(member.file_size for member in self._members.values())

    def lines(self, name: str, *, longest: int) -> Iterator[bytes]:
        """Each line of a member, without its end; one that is too long is a BadZipFile."""
        try:
            with io.BufferedReader(self._open_member(self._members[name]), _PIECE) as member:
                while line := member.readline(longest + 1):
                    if len(line) > longest:
                        raise zipfile.BadZipFile(f"{name} has a line of over {longest:,} bytes")
                    yield line.rstrip(b"\r\n")
        except (zlib.error, EOFError) as error:
            raise zipfile.BadZipFile(f"{name} cannot be inflated") from error

    def _open_member(self, member: zipfile.ZipInfo) -> zipfile.ZipExtFile:
        self._file.seek(min(member.header_offset, self.length))
        header = self._file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
            raise zipfile.BadZipFile(f"{member.filename} is not where it should be")
        *_, name_size, extra_size = _LOCAL.unpack(header)
        start = member.header_offset + _LOCAL.size + name_size + extra_size
        return zipfile.ZipExtFile(_Span(self._file, start), "r", member)


class _Span:
    """A place in a file that others read too."""

    def __init__(self, file: BinaryIO, at: int) -> None:
        self._file = file
        self._at = at

    def read(self, size: int) -> bytes:
        self._file.seek(self._at)
        data = self._file.read(size)
        self._at += len(data)
        return data

    def seekable(self) -> bool:
        return False


def _members(file: BinaryIO, names: frozenset[str], most: int | None) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    count = 0
    at, size = _directory(file)
    file.seek(at)
    while size > 0:
        count += 1
        if most is not None and count > most:
            raise zipfile.BadZipFile(f"it has more than {most:,} entries")
        row = file.read(_CENTRAL.size)
        if len(row) < _CENTRAL.size or not row.startswith(b"PK\x01\x02"):
            raise zipfile.BadZipFile("its directory is broken")
        fields = _CENTRAL.unpack(row)
        lengths = fields[10:13]
        name, extra = file.read(lengths[0]), file.read(lengths[1])
        file.seek(lengths[2], io.SEEK_CUR)
        size -= _CENTRAL.size + sum(lengths)
        known = name.decode(errors="replace")
        if known in names:
            if known in found:
                raise zipfile.BadZipFile(f"it has two members {known}")
            found[known] = _member(known, fields, extra)
    return found


def _member(name: str, fields: tuple[int, ...], extra: bytes) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.flag_bits, member.compress_type = fields[3], fields[4]
    if member.flag_bits & _ENCRYPTED or member.compress_type not in _METHODS:
        raise zipfile.BadZipFile(f"{name} is encrypted, or packed in a way that is not read here")
    member.CRC = fields[7]
    sizes = {"compress_size": fields[8], "file_size": fields[9], "header_offset": fields[16]}
    large = _large_numbers(extra)
    for field in ("file_size", "compress_size", "header_offset"):
        value = sizes[field]
        setattr(member, field, next(large, value) if value == _MAX32 else value)
    return member


def _large_numbers(extra: bytes) -> Iterator[int]:
    """What did not fit its field, in the order of the standard."""
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<2H", extra)
        if kind == 1:
            body = extra[4 : 4 + size]
            yield from (number for (number,) in struct.iter_unpack("<Q", body[: size // 8 * 8]))
        extra = extra[4 + size :]


def _directory(file: IO[bytes]) -> tuple[int, int]:
    """Where the directory begins, and its size."""
    length = file.seek(0, io.SEEK_END)
    tail_at = max(0, length - _END.size - _MAX16)
    file.seek(tail_at)
    tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) - end < _END.size:
        raise zipfile.BadZipFile("it is no zip archive, or its end is missing")
    *_, size, offset, _comment = _END.unpack_from(tail, end)
    if offset == _MAX32 or size == _MAX32 or _END.unpack_from(tail, end)[4] == _MAX16:
        size, offset = _large_directory(file, tail_at + end) or (size, offset)
    if offset + size > length:
        raise zipfile.BadZipFile("its directory is not where it should be")
    return offset, size


def _large_directory(file: IO[bytes], end: int) -> tuple[int, int] | None:
    if end < _LOCATOR.size:
        return None
    file.seek(end - _LOCATOR.size)
    mark, _disk, at, _disks = _LOCATOR.unpack(file.read(_LOCATOR.size))
    if mark != b"PK\x06\x07" or at > end:
        return None
    file.seek(at)
    record = file.read(_END64.size)
    if len(record) < _END64.size or not record.startswith(b"PK\x06\x06"):
        raise zipfile.BadZipFile("its end is broken")
    *_, size, offset = _END64.unpack(record)
    return size, offset
