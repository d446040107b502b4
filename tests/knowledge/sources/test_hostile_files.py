"""Files made to harm: each is refused with its reason, in seconds and in bounded memory."""

import resource
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.sources import files
from knowledge.sources.files import check_declared, read_file
from tests.support import files as made
from tests.support.files import DOCX, XLSX, W
from tests.support.hostile_files import BODY, END, png, swollen

PDF = "application/pdf"
SECONDS = 20
"""On a slow and busy machine; most take less than one."""


@pytest.fixture(autouse=True)
def in_bounds() -> Iterator[None]:
    """Whatever the file, it takes seconds, the worker does not grow, the child is limited."""
    began = time.monotonic()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.monotonic() - began < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - grown < 300_000
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= files.OCR_MEGABYTES * 1024


def reason(folder: Path, name: str, content: bytes, media_type: str) -> str:
    path = made.saved(folder, name, content)
    with pytest.raises(IngestFailed) as failed:
        read_file(path, media_type=media_type, filename=name)
    assert failed.value.message.endswith(".")
    return str(failed.value.details["reason"])


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("filling", [b" " * 1_000_000, b"<w:p/>" * 200_000])
def test_a_zip_bomb_in_a_document_stops_inflating(tmp_path: Path, filling: bytes) -> None:
    bomb = swollen("word/bomb.xml", BODY, filling, 300_000_000 // len(filling), END)
    assert len(bomb) < 2_000_000
    assert reason(tmp_path, "a.docx", bomb, DOCX) == "inflates_too_much"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_document_of_endless_text_is_too_long(tmp_path: Path) -> None:
    text = b"<w:p><w:r><w:t>" + b"stone " * 1_000 + b"</w:t></w:r></w:p>"
    long = swollen("word/long.xml", BODY, text, 400, END)
    assert reason(tmp_path, "a.docx", long, DOCX) == "too_long"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_document_nested_without_end_is_refused(tmp_path: Path) -> None:
    deep = swollen("word/deep.xml", BODY, b"<w:sdt>" * 1_000, 200, b"<w:t>x</w:t>")
    assert reason(tmp_path, "a.docx", deep, DOCX) == "broken_file"
    closed = BODY + b"<w:p>" * 50_000 + b"<w:t>x</w:t>" + b"</w:p>" * 50_000 + END
    nested = made.docx("", **{"word/document.xml": closed})
    assert reason(tmp_path, "b.docx", nested, DOCX) == "broken_file"


LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]>"
)
OUTSIDE = '<!DOCTYPE x [<!ENTITY j SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("doctype", [LAUGHS, OUTSIDE])
def test_entities_of_xml_are_never_expanded(tmp_path: Path, doctype: str) -> None:
    body = f"{doctype}<w:document {W}><w:body><w:p><w:t>&j;</w:t></w:p></w:body></w:document>"
    bomb = made.docx("", **{"word/document.xml": body})
    assert reason(tmp_path, "a.docx", bomb, DOCX) == "unsafe_xml"


def test_a_document_cut_short_is_broken(tmp_path: Path) -> None:
    whole = made.docx("<w:p><w:r><w:t>Stone</w:t></w:r></w:p>" * 100)
    for share in (0.1, 0.5, 0.99):
        assert reason(tmp_path, "a.docx", whole[: int(len(whole) * share)], DOCX) == "broken_file"


def test_a_damaged_member_is_broken(tmp_path: Path) -> None:
    whole = bytearray(made.docx("<w:p><w:r><w:t>Stone</w:t></w:r></w:p>" * 100))
    place = whole.index(b"word/document.xml") + 30
    whole[place : place + 10] = b"\xff" * 10
    assert reason(tmp_path, "a.docx", bytes(whole), DOCX) == "broken_file"


def test_a_member_that_lies_about_its_size_is_broken(tmp_path: Path) -> None:
    whole = made.docx("<w:p><w:r><w:t>Stone</w:t></w:r></w:p>" * 100)
    place = whole.rindex(b"word/document.xml") - 46 + 24
    lying = whole[:place] + struct.pack("<I", 100) + whole[place + 4 :]
    assert reason(tmp_path, "a.docx", lying, DOCX) == "broken_file"


@pytest.mark.parametrize("target", ["../../../etc/passwd", "/etc/passwd", "inner.zip"])
def test_a_document_cannot_point_out_of_itself_or_at_an_archive(
    tmp_path: Path, target: str
) -> None:
    members: dict[str, str | bytes] = {
        "_rels/.rels": made.relations(r=f"officeDocument:{target}"),
        "inner.zip": made.zipped({"word/document.xml": "<x/>"}),
        "../../evil.xml": "<x/>",
    }
    assert reason(tmp_path, "a.docx", made.zipped(members), DOCX) == "broken_file"
    assert not (tmp_path.parent.parent / "evil.xml").exists()


def test_a_protected_document_is_named_as_such(tmp_path: Path) -> None:
    whole = bytearray(made.docx("<w:p/>"))
    place = whole.index(b"PK\x01\x02")
    while place >= 0:
        whole[place + 8] |= 1
        place = whole.find(b"PK\x01\x02", place + 1)
    assert reason(tmp_path, "a.docx", bytes(whole), DOCX) == "encrypted"


def test_a_sheet_with_cells_at_the_far_end_of_every_row_is_too_long(tmp_path: Path) -> None:
    rows = '<row><c r="XFD1"><v>1</v></c></row>' * 100_000
    members: dict[str, str | bytes] = {
        "xl/workbook.xml": '<w xmlns:r="urn:r"><sheets><sheet name="S" r:id="r1"/></sheets></w>',
        "xl/_rels/workbook.xml.rels": made.relations(r1="worksheet:s.xml"),
        "xl/s.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
    }
    wide = made.office("xl/workbook.xml", members)
    assert reason(tmp_path, "a.xlsx", wide, XLSX) == "too_long"


def test_a_pdf_of_a_hundred_thousand_pages_is_refused(tmp_path: Path) -> None:
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    kids = " ".join(f"{number} 0 R" for number in range(3, 100_003))
    tree = f"<< /Type /Pages /Count 100000 /Kids [{kids}] >>"
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", tree, *[page] * 100_000]
    huge = made.assembled(objects, trailer="")
    assert reason(tmp_path, "a.pdf", huge, PDF) == "too_many_pages"


def test_a_pdf_whose_pages_lead_in_a_circle_is_refused(tmp_path: Path) -> None:
    tree = "<< /Type /Pages /Count 3 /Kids [2 0 R 2 0 R] /Parent 2 0 R >>"
    circle = made.assembled(["<< /Type /Catalog /Pages 2 0 R >>", tree], trailer="")
    assert reason(tmp_path, "a.pdf", circle, PDF) in ("broken_file", "not_extractable")


def test_a_pdf_with_a_broken_table_is_mended_where_its_pages_are_whole(tmp_path: Path) -> None:
    whole = made.pdf("The stone is cut.")
    for harmed in (
        whole.replace(b"startxref\n", b"startxref\n9999"),
        whole.replace(b"xref\n0 ", b"xref\n7 "),
        whole.replace(b" 00000 n", b" 55555 n"),
    ):
        path = made.saved(tmp_path, "a.pdf", harmed)
        assert read_file(path, media_type=PDF, filename="a.pdf").text == "The stone is cut."


@pytest.mark.parametrize("kept", [8, 200, -100])
def test_a_pdf_with_nothing_left_to_mend_is_broken(tmp_path: Path, kept: int) -> None:
    cut = made.pdf("The stone is cut.")[:kept] + b"\xde\xad\xbe\xef" * 100
    assert reason(tmp_path, "a.pdf", cut, PDF) == "broken_file"


def test_a_pdf_with_a_password_is_named_as_such(tmp_path: Path) -> None:
    secret = (
        "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 "
        f"/O <{'41' * 32}> /U <{'42' * 32}> >> /ID [<{'43' * 16}> <{'43' * 16}>]"
    )
    locked = made.pdf("The stone is cut.", extra=secret)
    assert reason(tmp_path, "a.pdf", locked, PDF) == "encrypted"


def test_a_pdf_whose_page_swells_is_bounded(tmp_path: Path) -> None:
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(b"q " * 500_000) for _ in range(300)) + packer.flush()
    stream = packed.decode("latin-1")
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        page,
        f"<< /Filter /FlateDecode /Length {len(packed)} >>\nstream\n{stream}\nendstream",
    ]
    bomb = made.assembled(objects, trailer="")
    assert reason(tmp_path, "a.pdf", bomb, PDF) in (
        "too_much_memory",
        "not_extractable",
        "crashed",
        "needs_ocr",
    )


@pytest.mark.parametrize("media_type", sorted({*files.ALLOWED} - {"text/html"}))
def test_an_empty_file_is_called_empty(tmp_path: Path, media_type: str) -> None:
    assert reason(tmp_path, "a", b"", media_type) == "empty"


def test_wrong_first_bytes_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedMedia):
        check_declared(PDF, b"MZ\x90\x00\x03" + bytes(100), "a.pdf")
    with pytest.raises(IngestFailed) as failed:
        check_declared(PDF, b"", "a.pdf")
    assert failed.value.details["reason"] == "empty"


@pytest.mark.parametrize("media_type", [PDF, DOCX, XLSX, "image/png", "application/epub+zip"])
def test_a_file_that_is_something_else_after_all_is_broken(tmp_path: Path, media_type: str) -> None:
    assert reason(tmp_path, "a", b"MZ\x90\x00\x03" + bytes(1_000), media_type) == "broken_file"


def test_a_picture_of_thirty_thousand_pixels_square_is_refused_by_its_header(
    tmp_path: Path,
) -> None:
    bomb = png(30_000, 30_000, rows=30_000)
    assert len(bomb) < 200_000
    assert reason(tmp_path, "a.png", bomb, "image/png") == "too_large_image"


def test_a_text_file_that_is_too_long_is_refused(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.txt", b"stone " * 400_000, "text/plain") == "too_long"
    assert reason(tmp_path, "b.txt", b"stone " * 4_000_000, "text/plain") == "too_long"
    assert reason(tmp_path, "c.csv", b"a,b\n" * 400_000, "text/csv") == "too_long"
