"""Files made to harm."""

import io
import struct
import zipfile
import zlib

from tests.support import files as made
from tests.support.files import W


def swollen(name: str, before: bytes, filling: bytes, times: int, after: bytes) -> bytes:
    """An Office file of which one member inflates to a multiple of its size."""
    packed = io.BytesIO(made.docx(""))
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", made.relations(r=f"officeDocument:{name}"))
        with archive.open(name, "w") as member:
            member.write(before)
            for _ in range(times):
                member.write(filling)
            member.write(after)
    return packed.getvalue()


BODY = f"<w:document {W}><w:body>".encode()
END = b"</w:body></w:document>"


def png(width: int, height: int, *, rows: int) -> bytes:
    """Black and white; the header may promise more rows than follow."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(width // 8 + 1) * rows, 9)
    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
