"""Files of every kind are known by their bytes, and become text with its places."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.sources.extracted import Extracted
from knowledge.sources.files import ALLOWED, HEAD, check_declared, kind_of, read_file, sniff
from knowledge.sources.parsers.dispatch import READERS
from tests.support import files as made
from tests.support.files import DOCX, PPTX, XLSX, W

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
KINDS = {"pdf", "image", "office", "markdown", "text", "webpage", "audio", "video"}
OPEN = "application/vnd.oasis.opendocument"
OASIS = "urn:oasis:names:tc:opendocument:xmlns"


def read(folder: Path, name: str, content: bytes | str, media_type: str = "") -> Extracted:
    path = made.saved(folder, name, content)
    media_type = media_type or sniff(path.read_bytes()[:HEAD], name)
    return read_file(path, media_type=media_type, filename=name)


def quoted(found: Extracted, place: int) -> str:
    part = found.parts[place]
    return found.text[part.start : part.end]


SNIFFED = [
    (made.pdf("x"), "x", "application/pdf"),
    (PNG, "cat.txt", "image/png"),
    (b"\xff\xd8\xff\xe0" + bytes(20), "", "image/jpeg"),
    (b"GIF89a" + bytes(20), "", "image/gif"),
    (b"II*\x00" + bytes(20), "", "image/tiff"),
    (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "", "image/webp"),
    (b"RIFF\x10\x00\x00\x00WAVEfmt ", "", "audio/wav"),
    (b"ID3\x04" + bytes(20), "", "audio/mpeg"),
    (b"\xff\xfb\x90\x64" + bytes(20), "", "audio/mpeg"),
    (b"\xff\xf1\x50\x80" + bytes(20), "", "audio/aac"),
    (b"fLaC" + bytes(20), "", "audio/flac"),
    (b"OggS" + bytes(24) + b"\x01vorbis", "", "audio/ogg"),
    (b"\x00\x00\x00\x20ftypM4A " + bytes(20), "", "audio/mp4"),
    (b"\x00\x00\x00\x20ftypisom" + bytes(20), "", "video/mp4"),
    (b"\x00\x00\x00\x20ftypqt  " + bytes(20), "", "video/quicktime"),
    (b"\x1aE\xdf\xa3\x01B\x82\x84webm" + b"V_VP9", "", "video/webm"),
    (made.docx("<w:p/>"), "without an ending", DOCX),
    ("Grüße".encode("latin-1"), "a.txt", "text/plain"),
    ("Grüße".encode("utf-16"), "a.txt", "text/plain"),
    (b"# Title", "a.md", "text/markdown"),
    (b"a,b", "a.CSV", "text/csv"),
    (b'{"a": 1}', "a.json", "application/json"),
    (b"  <!DOCTYPE html><p>", "a", "text/html"),
    (b"\xef\xbb\xbfWEBVTT\n", "a", "text/vtt"),
    (b"1\n00:00:01,000 --> 00:00:02,000\nHi", "a.srt", "application/x-subrip"),
]


@pytest.mark.parametrize(("head", "name", "media_type"), SNIFFED)
def test_a_file_is_known_by_its_bytes(head: bytes, name: str, media_type: str) -> None:
    assert sniff(head[:HEAD], name) == media_type


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"MZ\x90\x00\x03" + bytes(30), "report.pdf"),
        (b"\x7fELF" + bytes(30), "notes.txt"),
        (b"PK\x03\x04" + bytes(30), "stuff.zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(30), "old.doc"),
        (b"{\\rtf1 hello}", "a.txt"),
        (b"<?xml version='1.0'?><svg/>", "a.svg"),
        (b"\x00\x00\x00\x20ftypheic" + bytes(20), "a.heic"),
    ],
)
def test_what_is_not_taken_is_refused_whatever_its_name(head: bytes, name: str) -> None:
    with pytest.raises(UnsupportedMedia, match="save"):
        sniff(head, name)


def test_every_allowed_type_has_a_kind_and_all_but_sound_a_reader() -> None:
    assert set(ALLOWED.values()) == KINDS
    read_here = {name for name, kind in ALLOWED.items() if kind not in ("audio", "video")}
    assert read_here == {*READERS, "text/html"}
    assert kind_of("Text/Markdown; charset=utf-8") == "markdown"
    with pytest.raises(UnsupportedMedia):
        kind_of("application/x-msdownload")


@pytest.mark.parametrize(
    ("declared", "head", "name", "kept"),
    [
        ("application/pdf", made.pdf("x"), "x.pdf", "application/pdf"),
        ("audio/x-m4a", b"\x00\x00\x00\x20ftypisom" + bytes(20), "x.m4a", "audio/mp4"),
        ("text/plain", b"# Title", "x.md", "text/markdown"),
        ("text/markdown", b"# Title", "x.txt", "text/markdown"),
        ("image/jpg", b"\xff\xd8\xff\xe0" + bytes(20), "x.jpg", "image/jpeg"),
    ],
)
def test_a_declared_type_that_agrees_is_kept(
    declared: str, head: bytes, name: str, kept: str
) -> None:
    assert check_declared(declared, head[:HEAD], name) == kept


def test_a_declared_type_that_disagrees_is_refused_with_both_named() -> None:
    with pytest.raises(UnsupportedMedia) as refused:
        check_declared("application/pdf", PNG, "report.pdf")
    assert refused.value.details == {"declared": "application/pdf", "found": "image/png"}
    assert "application/pdf" in refused.value.message
    assert "image/png" in refused.value.message


def test_a_pdf_keeps_its_pages(tmp_path: Path) -> None:
    info = "/Title (Stones) /Author (Ada Mason) /CreationDate (D:20240506070809+02'00')"
    found = read(tmp_path, "a.pdf", made.pdf("First page", "Second\nof two lines", info=info))
    assert (found.title, found.author) == ("Stones", "Ada Mason")
    assert found.published_at == datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)
    assert [part.page for part in found.parts] == [1, 2]
    assert quoted(found, 0) == "First page"
    assert quoted(found, 1) == "Second\nof two lines"


def test_a_title_that_a_program_made_up_is_no_title(tmp_path: Path) -> None:
    found = read(tmp_path, "a.pdf", made.pdf("Text", info="/Title (Microsoft Word - draft7.doc)"))
    assert found.title == ""


DOCUMENT = """
<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Quarries</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Cut </w:t></w:r><w:r><w:t>by hand</w:t><w:tab/>
<w:t>daily.</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>
<w:r><w:t>lime</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="2"/></w:numPr></w:pPr>
<w:r><w:t>marl</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Stone</w:t></w:r></w:p></w:tc>
<w:tc><w:p><w:r><w:t>Tonnes|t</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p><w:r><w:t>Lime</w:t></w:r></w:p></w:tc>
<w:tc><w:p><w:r><w:t>31</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><w:t>The end.</w:t></w:r></w:p>
"""
STYLES = f'<w:styles {W}><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>'
NUMBERING = (
    f'<w:numbering {W}><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="1">'
    '<w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="2"><w:abstractNumId w:val="7"/></w:num></w:numbering>'
)
NOTES = (
    f"<w:footnotes {W}><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote>"
    "</w:footnotes>"
)


def test_a_word_document_keeps_headings_lists_tables_and_notes(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "word/styles.xml": STYLES,
        "word/numbering.xml": NUMBERING,
        "word/footnotes.xml": NOTES,
        "word/_rels/document.xml.rels": made.relations(
            a="styles:styles.xml", b="numbering:numbering.xml", c="footnotes:footnotes.xml"
        ),
    }
    found = read(tmp_path, "a.docx", made.docx(DOCUMENT, **members))
    assert found.text == (
        "# Quarries\n\nCut by hand\tdaily.\n\n- lime\n   1. marl\n\n"
        "| Stone | Tonnes\\|t |\n| --- | --- |\n| Lime | 31 |\n\nThe end.\n\nA note."
    )
    assert (found.title, found.author) == ("Stones & Sand", "Ada Mason")
    assert found.published_at == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


P = 'xmlns:p="urn:p" xmlns:a="urn:a" xmlns:r="urn:r"'


def slide(title: str, *points: str) -> str:
    bullets = "".join(f'<a:p><a:pPr lvl="1"/><a:r><a:t>{p}</a:t></a:r></a:p>' for p in points)
    return (
        f'<p:sld {P}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr>'
        f"</p:nvSpPr><p:txBody><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp>"
        f'<p:sp><p:nvSpPr><p:nvPr><p:ph idx="1"/></p:nvPr></p:nvSpPr><p:txBody>{bullets}'
        "</p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
    )


def test_slides_come_in_the_order_they_are_shown_each_a_page(tmp_path: Path) -> None:
    shown = '<p:sldIdLst><p:sldId id="256" r:id="r2"/><p:sldId id="257" r:id="r1"/></p:sldIdLst>'
    members: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {P}>{shown}</p:presentation>",
        "ppt/_rels/presentation.xml.rels": made.relations(
            r1="slide:slides/slide1.xml", r2="slide:/ppt/slides/slide2.xml"
        ),
        "ppt/slides/slide1.xml": slide("Last", "and least"),
        "ppt/slides/slide2.xml": slide("First", "of all", "and foremost"),
        "ppt/slides/_rels/slide1.xml.rels": made.relations(n="notesSlide:../notes/n1.xml"),
        "ppt/notes/n1.xml": slide("", "Speak slowly"),
    }
    found = read(tmp_path, "a.pptx", made.office("ppt/presentation.xml", members), PPTX)
    assert [part.page for part in found.parts] == [1, 2]
    assert quoted(found, 0) == "## Slide 1: First\n\n   - of all\n   - and foremost"
    assert quoted(found, 1) == "## Slide 2: Last\n\n   - and least\n\nNotes: Speak slowly"


def test_sheets_are_headings_with_tables_and_dates_are_dates(tmp_path: Path) -> None:
    x = 'xmlns="urn:x" xmlns:r="urn:r"'
    rows = (
        '<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Day</t></is></c></row>'
        '<row><c r="A2"><v>2.5</v></c><c r="C2" s="1"><v>45292</v></c></row>'
        '<row><c r="A3" t="b"><v>1</v></c><c r="C3" t="str"><v>x</v></c></row>'
    )
    members: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<book {x}><sheets><sheet name="Prices" r:id="r1"/></sheets></book>',
        "xl/_rels/workbook.xml.rels": made.relations(
            r1="worksheet:s1.xml", r2="sharedStrings:strings.xml", r3="styles:styles.xml"
        ),
        "xl/strings.xml": f"<sst {x}><si><r><t>To</t></r><r><t>ns</t></r></si></sst>",
        "xl/styles.xml": f'<styles {x}><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styles>',
        "xl/s1.xml": f"<worksheet {x}><sheetData>{rows}</sheetData></worksheet>",
    }
    found = read(tmp_path, "a.xlsx", made.office("xl/workbook.xml", members), XLSX)
    assert found.text == (
        "## Prices\n\n| Tons | Day |\n| --- | --- |\n| 2.5 | 2024-01-01 |\n| TRUE | x |"
    )


def test_an_open_document_is_read_too(tmp_path: Path) -> None:
    names = f'xmlns:o="{OASIS}:office:1.0" xmlns:t="{OASIS}:text:1.0" xmlns:b="{OASIS}:table:1.0"'
    body = (
        '<t:h t:outline-level="2">Head</t:h><t:p>Some<t:s/>words<t:tab/>here</t:p>'
        "<t:list><t:list-item><t:p>one</t:p></t:list-item></t:list>"
        "<b:table><b:table-row><b:table-cell><t:p>a</t:p></b:table-cell>"
        '<b:table-cell b:number-columns-repeated="16000000"/></b:table-row></b:table>'
    )
    content = f"<o:document {names}><o:body><o:text>{body}</o:text></o:body></o:document>"
    packed = made.zipped({"mimetype": f"{OPEN}.text", "content.xml": content})
    found = read(tmp_path, "a.odt", packed, f"{OPEN}.text")
    assert found.text == "## Head\n\nSome words\there\n\n- one\n\n| a |\n| --- |"


def test_a_book_is_read_chapter_by_chapter(tmp_path: Path) -> None:
    chapter = "<html><head><title>no</title></head><h1>{}</h1><p>Some <b>bold</b> words.</p>"
    members: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><rootfiles><r full-path="in/book.opf"/></rootfiles></c>',
        "in/book.opf": '<package xmlns:dc="urn:dc"><metadata><dc:title>Stones</dc:title>'
        "<dc:creator>Ada</dc:creator></metadata><manifest>"
        '<item id="a" href="one%20.xhtml"/><item id="b" href="two.xhtml"/></manifest>'
        '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>',
        "in/one .xhtml": chapter.format("One"),
        "in/two.xhtml": chapter.format("Two"),
    }
    found = read(tmp_path, "a.epub", made.zipped(members))
    assert found.text == "# Two\n\nSome bold words.\n\n# One\n\nSome bold words."
    assert (found.title, found.author) == ("Stones", "Ada")


def test_markdown_stays_as_it_is_and_tells_its_title(tmp_path: Path) -> None:
    text = (
        '---\ntitle: "On stones"\nauthor: Ada\ndate: 2024-05-06\n---\n\n# Other\n\n```\ncode\n```'
    )
    found = read(tmp_path, "a.md", text.replace("\n", "\r\n") + "\r\n")
    assert found.text == text
    assert (found.title, found.author) == ("On stones", "Ada")
    assert found.published_at == datetime(2024, 5, 6, tzinfo=UTC)
    assert read(tmp_path, "b.md", "# Other\n\ntext").title == "Other"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_the_encoding_it_was_written_in(tmp_path: Path, encoding: str) -> None:
    text = "Die Größe der Steinbrüche überraschte uns. Möglicherweise hören wir später mehr.\n" * 5
    assert read(tmp_path, "a.txt", text.encode(encoding)).text == text.rstrip("\n")


def test_what_no_database_can_hold_is_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, "a.txt", "a\x00b\r\nc\x0bd\x1b \ufeff".encode(), "text/plain")
    assert found.text == "ab\nc\nd "


@pytest.mark.parametrize(
    "text", ["a;b\n1;two, three\n", 'a,b\n1,"two, three"\n', "a\tb\n1\ttwo, three\n"]
)
def test_values_with_separators_are_a_table(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, "a.csv", text).text == "| a | b |\n| --- | --- |\n| 1 | two, three |"


def test_json_stays_as_it_is(tmp_path: Path) -> None:
    assert read(tmp_path, "a.json", '{"a": [1, 2]}\n').text == '{"a": [1, 2]}'


def test_subtitles_keep_their_seconds(tmp_path: Path) -> None:
    found = read(tmp_path, "a.srt", "1\n00:00:01,500 --> 00:00:04,000\nThe stone is cut.\n")
    assert found.text == "The stone is cut."
    assert (found.parts[0].start_sec, found.parts[0].end_sec) == (1.5, 4.0)
    assert found.duration_sec == 4.0


def test_a_saved_page_is_read_as_a_page(tmp_path: Path) -> None:
    words = "The limestone of this valley has been cut by hand for two hundred years. " * 8
    page = f"<html><head><title>Stones</title></head><article><h1>Stones</h1><p>{words}</p>"
    found = read(tmp_path, "a.html", page)
    assert words.strip() in found.text
    assert found.title == "Stones"


def test_sound_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedMedia, match="transcribed"):
        read(tmp_path, "a.mp3", b"ID3" + bytes(30))


def test_a_file_without_text_says_so(tmp_path: Path) -> None:
    with pytest.raises(IngestFailed) as failed:
        read(tmp_path, "a.docx", made.docx("<w:p/>"))
    assert failed.value.details["reason"] == "not_extractable"


def test_a_list_of_a_style_is_a_list_unless_the_paragraph_leaves_it(tmp_path: Path) -> None:
    styled = '<w:p><w:pPr><w:pStyle w:val="LB"/>{}</w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    styles = (
        f'<w:styles {W}><w:style w:styleId="LB"><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr>'
        "</w:pPr></w:style></w:styles>"
    )
    members: dict[str, str | bytes] = {
        "word/styles.xml": styles,
        "word/_rels/document.xml.rels": made.relations(a="styles:styles.xml"),
    }
    left = '<w:numPr><w:numId w:val="0"/></w:numPr>'
    body = styled.format("", "in") + styled.format(left, "out")
    assert read(tmp_path, "a.docx", made.docx(body, **members)).text == "- in\n\nout"
