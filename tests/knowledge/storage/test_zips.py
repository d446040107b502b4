"""Archives written as a stream and read by name, also those that mean harm."""

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator

import pytest

from knowledge.storage.zips import Archive, zip_members
from tests.support.exchange import rezipped


def pieces(count: int) -> Iterator[bytes]:
    return (f"line {number}\n".encode() for number in range(count))


def written(*members: tuple[str, bytes | Iterator[bytes]]) -> bytes:
    return b"".join(zip_members(members))


def read(archive: bytes, name: str, longest: int = 1000) -> list[bytes]:
    return list(Archive(io.BytesIO(archive), {name}).lines(name, longest=longest))


def test_other_programs_read_what_is_written() -> None:
    data = written(
        ("a.jsonl", pieces(5000)), ("ü/x.md", b"text"), ("empty", b""), ("none", pieces(0))
    )
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a.jsonl", "ü/x.md", "empty", "none"]
        assert archive.read("a.jsonl") == b"".join(pieces(5000))
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert read(data, "a.jsonl") == [f"line {number}".encode() for number in range(5000)]


def test_more_members_than_a_plain_archive_may_have() -> None:
    data = written(*((f"{number}.md", b"x") for number in range(70_000)), ("last", b"y\n"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert len(archive.namelist()) == 70_001
    assert read(data, "last") == [b"y"]


def test_sizes_beyond_four_gigabytes_are_told_in_the_directory() -> None:
    [row] = zip_entries(size=5_000_000_000, offset=6_000_000_000)
    member = zipfile.ZipFile(io.BytesIO(row)).infolist()[0]
    assert (member.file_size, member.header_offset) == (5_000_000_000, 6_000_000_000)


def zip_entries(*, size: int, offset: int) -> list[bytes]:
    """A directory alone, for nobody would wait for the members."""
    from knowledge.storage.zips import _end, _ZipMember

    member = _ZipMember(b"large", offset)
    member._size = member._packed_size = size
    entry = member.entry()
    return [entry + _end(1, len(entry), 0)]


def test_memory_does_not_grow_with_the_archive() -> None:
    def peak(members: int) -> int:
        tracemalloc.start()
        for _ in zip_members((f"{number:06}.md", b"x" * 100) for number in range(members)):
            pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(40_000) < peak(20_000) + 200_000


def test_members_are_read_side_by_side() -> None:
    data = written(("a", pieces(30_000)), ("b", pieces(30_000)))
    archive = Archive(io.BytesIO(data), {"a", "b"})
    both = zip(archive.lines("a", longest=99), archive.lines("b", longest=99), strict=True)
    assert all(one == other for one, other in both)


def test_names_that_nobody_asked_for_are_not_kept() -> None:
    archive = Archive(io.BytesIO(rezipped({"../../etc/passwd": b"x", "a": b"1\n"})), {"a"})
    assert "../../etc/passwd" not in archive
    assert archive.inflated_size == 2


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"PK\x05\x06" + b"\x00" * 17, b"not a zip at all" * 100, b"\x00" * 70_000],
)
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(zipfile.BadZipFile):
        Archive(io.BytesIO(data), {"a"})


@pytest.mark.parametrize("at", range(0, 130, 3))
def test_a_flipped_byte_is_noticed_or_harmless(at: int) -> None:
    whole = rezipped({"a": b"one\ntwo\n"})
    broken = bytearray(whole)
    broken[at % len(whole)] ^= 0xFF
    try:
        found = read(bytes(broken), "a")
    except (zipfile.BadZipFile, KeyError):
        return
    assert found == [b"one", b"two"]


def test_every_cut_is_noticed() -> None:
    whole = written(("a", pieces(100)))
    for length in range(0, len(whole), 7):
        with pytest.raises(zipfile.BadZipFile):
            read(whole[:length], "a")


def test_a_line_without_end_is_refused_before_it_is_held() -> None:
    bomb = rezipped({"a": b"x" * 50_000_000})
    assert len(bomb) < 60_000
    tracemalloc.start()
    with pytest.raises(zipfile.BadZipFile, match="line of over 1,000 bytes"):
        read(bomb, "a")
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def test_a_member_that_lies_about_its_size_is_cut_there() -> None:
    archive = bytearray(rezipped({"a": b"1\n" * 1000}))
    at = archive.rindex(b"PK\x01\x02")
    struct.pack_into("<I", archive, at + 24, 2)
    with pytest.raises(zipfile.BadZipFile):
        read(bytes(archive), "a")


def test_two_members_of_one_name_are_refused() -> None:
    data = written(("a", b"1\n"), ("a", b"2\n"))
    with pytest.raises(zipfile.BadZipFile, match="two members"):
        read(data, "a")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_that_may_swell_without_measure_are_refused(method: int) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("a", b"1\n")
    with pytest.raises(zipfile.BadZipFile, match="packed in a way"):
        read(out.getvalue(), "a")
