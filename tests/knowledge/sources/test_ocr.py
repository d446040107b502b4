"""Pictures of text are read by the engine that is installed, and say so where none is."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from knowledge.errors import IngestFailed
from knowledge.sources import child, files
from knowledge.sources.files import read_file
from knowledge.sources.parsers.layout import Box, in_reading_order
from tests.support import files as made
from tests.support.pictures import LINES, picture

PDF = "application/pdf"
TESSERACT = """#!/bin/sh
head -c 4 | grep -q PNG && echo "read by tesseract"
"""


def scanned(folder: Path) -> Path:
    path = folder / "scan.pdf"
    picture(LINES[0]).save(path, save_all=True, append_images=[picture(LINES[1])])
    return path


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is called as tesseract is."""
    program = made.saved(tmp_path, "tesseract", TESSERACT)
    program.chmod(0o755)
    monkeypatch.setitem(child.ENVIRONMENT, "PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr("knowledge.sources.parsers.ocr.find_spec", lambda name: None)


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(child.ENVIRONMENT, "PATH", "/nowhere")
    monkeypatch.setattr("knowledge.sources.parsers.ocr.find_spec", lambda name: None)


def refused(path: Path, media_type: str) -> IngestFailed:
    with pytest.raises(IngestFailed) as failed:
        read_file(path, media_type=media_type, filename=path.name)
    return failed.value


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_a_picture_says_what_to_install(tmp_path: Path) -> None:
    picture(*LINES).save(tmp_path / "a.png")
    for path, media_type in ((tmp_path / "a.png", "image/png"), (scanned(tmp_path), PDF)):
        failed = refused(path, media_type)
        assert failed.details["reason"] == "needs_ocr"
        assert "quarry[ocr]" in failed.message
        assert "tesseract" in failed.message


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_the_written_pages_of_a_pdf_are_read(tmp_path: Path) -> None:
    path = made.saved(tmp_path, "a.pdf", made.pdf("Written", "", "Again"))
    found = read_file(path, media_type=PDF, filename="a.pdf")
    assert found.text == "Written\n\nAgain"
    assert [part.page for part in found.parts] == [1, 3]


@pytest.mark.usefixtures("tesseract")
def test_scanned_pages_stand_between_written_ones_with_their_numbers(tmp_path: Path) -> None:
    assert files.ocr_engine() == "tesseract"
    path = made.saved(tmp_path, "a.pdf", made.pdf("Written", "", "Again", info="/Title (Mixed)"))
    told: list[float] = []
    found = read_file(path, media_type=PDF, filename="a.pdf", progress=told.append)
    assert found.text == "Written\n\nread by tesseract\n\nAgain"
    assert [part.page for part in found.parts] == [1, 2, 3]
    assert found.title == "Mixed"
    assert told == [1.0]


@pytest.mark.usefixtures("tesseract")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF", "GIF"])
def test_pictures_of_every_kind_are_shown_to_the_engine(tmp_path: Path, kind: str) -> None:
    picture(*LINES).save(tmp_path / "a", kind)
    found = read_file(tmp_path / "a", media_type=f"image/{kind.lower()}", filename="a")
    assert found.text == "read by tesseract"


@pytest.mark.usefixtures("tesseract")
def test_every_page_of_a_tiff_is_read(tmp_path: Path) -> None:
    picture("a").save(tmp_path / "a.tif", save_all=True, append_images=[picture("b")])
    found = read_file(tmp_path / "a.tif", media_type="image/tiff", filename="a.tif")
    assert [part.page for part in found.parts] == [1, 2]


@pytest.mark.usefixtures("tesseract")
def test_a_picture_cut_short_is_broken(tmp_path: Path) -> None:
    picture(*LINES).save(tmp_path / "whole.png")
    whole = (tmp_path / "whole.png").read_bytes()
    path = made.saved(tmp_path, "cut.png", whole[: len(whole) // 2])
    assert refused(path, "image/png").details["reason"] == "broken_file"


@pytest.mark.usefixtures("tesseract")
def test_too_many_scanned_pages_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "OCR_PAGES", 1)
    assert refused(scanned(tmp_path), PDF).details["reason"] == "too_many_pages"


@pytest.mark.skipif(not find_spec("rapidocr"), reason="needs the extra quarry[ocr]")
def test_a_scanned_pdf_is_read_word_by_word_with_its_pages(tmp_path: Path) -> None:
    found = read_file(scanned(tmp_path), media_type=PDF, filename="scan.pdf")
    assert found.text == "\n\n".join(LINES)
    assert [part.page for part in found.parts] == [1, 2]


def line(left: float, top: float, text: str, *, width: float = 400) -> Box:
    return Box(left, top, left + width, top + 20, text)


def test_columns_are_read_one_after_the_other() -> None:
    rows = [
        box
        for n in range(3)
        for box in (line(0, 100 + 25 * n, f"left {n}"), line(500, 101 + 25 * n, f"right {n}"))
    ]
    page = [line(0, 0, "Title over both", width=900), *rows]
    assert in_reading_order(page) == (
        "Title over both\n\nleft 0\nleft 1\nleft 2\n\nright 0\nright 1\nright 2"
    )


def test_the_cells_of_a_table_stay_in_their_rows() -> None:
    rows = [
        box
        for n in range(3)
        for box in (line(0, 25 * n, f"item {n}"), line(850, 25 * n + 2, f"{n}.00", width=50))
    ]
    assert in_reading_order(rows) == "item 0 0.00\nitem 1 1.00\nitem 2 2.00"


def test_a_blank_page_has_no_text() -> None:
    assert in_reading_order([]) == ""
