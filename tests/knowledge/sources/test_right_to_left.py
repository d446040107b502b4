"""PDFs of Arabic and Hebrew: words are stored as they are read, however they were written."""

from pathlib import Path

import pytest

from knowledge.sources.files import read_file
from knowledge.sources.parsers.right_to_left import Glyph, read_line

WIDE = 6
SEEN = {
    # What is read, and how it looks from left to right.
    "שלום עולם": "םלוע םולש",
    "حبيبي قديم": "ميدق يبيبح",
    "בשנת 1998 חתכו 250 גושים": "םישוג 250 וכתח 1998 תנשב",
    "של Granite (גרניט) שם, 3.50.": ".3.50 ,םש )טינרג( Granite לש",
    "السعر ٣٫٥٠ دولار": "رالود ٣٫٥٠ رعسلا",
    "12:30–14:00 ירושלים": "םילשורי 14:00–12:30",
    "The word שלום means peace.": "The word םולש means peace.",
}


def pdf_of(look: str, *, is_written_leftward: bool) -> bytes:
    """A page with one line, glyph by glyph at its place, in either order."""
    codes = {character: 33 + n for n, character in enumerate(sorted(set(look)))}
    places = list(enumerate(look))
    drawn = " ".join(
        f"1 0 0 1 {50 + WIDE * place} 700 Tm <{codes[character]:02x}> Tj"
        for place, character in (reversed(places) if is_written_leftward else places)
    )
    names = "\n".join(
        f"<{code:02x}> <{character.encode('utf-16-be').hex()}>" for character, code in codes.items()
    )
    mapping = (
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> "
        f"endcodespacerange {len(codes)} beginbfchar\n{names}\nendbfchar endcmap end"
    )
    return _file(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
        "/Resources << /Font << /F 5 0 R >> >> >>",
        _stream(f"BT /F 10 Tf {drawn} ET"),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 6 0 R >>",
        _stream(mapping),
    )


def _stream(text: str) -> str:
    return f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"


def _file(*objects: str) -> bytes:
    body, starts = b"%PDF-1.7\n", []
    for number, written in enumerate(objects, start=1):
        starts.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n".encode("ascii")
    rows = "".join(f"{start:010} 00000 n \n" for start in starts)
    table = f"xref\n0 {len(starts) + 1}\n0000000000 65535 f \n{rows}"
    end = f"trailer << /Root 1 0 R /Size {len(starts) + 1} >>\nstartxref\n{len(body)}\n%%EOF"
    return body + (table + end).encode("ascii")


def read(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return read_file(path, media_type="application/pdf", filename="a.pdf").text


@pytest.mark.parametrize("is_written_leftward", [True, False], ids=["leftward", "rightward"])
@pytest.mark.parametrize("words", SEEN)
def test_a_line_is_stored_as_it_is_read(
    tmp_path: Path, words: str, is_written_leftward: bool
) -> None:
    content = pdf_of(SEEN[words], is_written_leftward=is_written_leftward)
    assert read(tmp_path / "a.pdf", content) == words


def test_the_shapes_of_letters_become_the_letters(tmp_path: Path) -> None:
    shapes = "\ufef2\ufe92\ufef4\ufe92\ufea3"  # as they are joined in a word
    content = pdf_of(shapes, is_written_leftward=False)
    assert read(tmp_path / "a.pdf", content) == "حبيبي"


def test_a_vowel_sign_follows_its_letter() -> None:
    letters = [Glyph(WIDE * n, WIDE * n + WIDE, 10, letter, 0) for n, letter in enumerate("יבח")]
    sign = Glyph(2 * WIDE + 1, 2 * WIDE + 2, 2, "\u05b8", 0)
    assert read_line([sign, *letters]) == "ח\u05b8בי"
