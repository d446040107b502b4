"""Small files of every kind, written by hand so that the tests know each byte."""

import io
import zipfile
from pathlib import Path

OFFICE = "application/vnd.openxmlformats-officedocument"
DOCX = f"{OFFICE}.wordprocessingml.document"
PPTX = f"{OFFICE}.presentationml.presentation"
XLSX = f"{OFFICE}.spreadsheetml.sheet"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
RELATIONS = f"{PACKAGE}/relationships"
OFFICE_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
CORE = (
    f'<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>Stones &amp; Sand</dc:title><dc:creator>Ada Mason</dc:creator>"
    "<dcterms:created>2024-05-06T07:08:09Z</dcterms:created></cp:coreProperties>"
)


def relations(**targets: str) -> str:
    """`rId1="slide:slides/slide1.xml"`: id, kind and target."""
    rows = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE_DOCUMENT}/{kind}" Target="{name}"/>'
        for key, (kind, _, name) in ((key, told.partition(":")) for key, told in targets.items())
    )
    return f'<Relationships xmlns="{RELATIONS}">{rows}</Relationships>'


def zipped(members: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def office(main: str, members: dict[str, str | bytes]) -> bytes:
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(rId1=f"officeDocument:{main}"),
            "docProps/core.xml": CORE,
            **members,
        }
    )


def docx(body: str, **members: str | bytes) -> bytes:
    return office(
        "word/document.xml",
        {
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            **members,
        },
    )


def pdf(*pages: str, info: str = "", extra: str = "") -> bytes:
    """Each page has its lines of text, in Helvetica."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for text in pages:
        lines = "".join(f"({line}) Tj T* " for line in text.splitlines())
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {lines}ET" if text else "0 0 100 100 re f"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    objects.append(f"<< {info} >>")
    return assembled(objects, trailer=f"/Info {len(objects)} 0 R {extra}")


def assembled(objects: list[str], *, trailer: str) -> bytes:
    """Objects with their cross-reference table."""
    written = io.BytesIO()
    written.write(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(written.tell())
        written.write(f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1"))
    start = written.tell()
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    written.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}".encode())
    written.write(
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\n"
        f"startxref\n{start}\n%%EOF\n".encode()
    )
    return written.getvalue()


def saved(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
