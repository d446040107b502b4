"""What a file really is: by its first bytes, and by its name only where text is text."""

from collections.abc import Callable

from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.sources.code_types import CODE_ENDINGS, CODE_TYPES, NEVER_TAKEN, NO_TYPE, NOT_TEXT
from knowledge.sources.parsers.dispatch import OFFICE, OPEN

HEAD = 8_192
"""How many first bytes are enough to tell."""

DOCX = f"{OFFICE}.wordprocessingml.document"
PPTX = f"{OFFICE}.presentationml.presentation"
XLSX = f"{OFFICE}.spreadsheetml.sheet"
ALLOWED = {
    "application/pdf": "pdf",
    **dict.fromkeys(("image/png", "image/jpeg", "image/webp", "image/tiff", "image/gif"), "image"),
    **dict.fromkeys((DOCX, PPTX, XLSX), "office"),
    **dict.fromkeys((f"{OPEN}.text", f"{OPEN}.spreadsheet", f"{OPEN}.presentation"), "office"),
    "application/epub+zip": "office",
    "text/markdown": "markdown",
    "text/html": "webpage",
    **dict.fromkeys(("text/plain", "text/csv", "text/tab-separated-values"), "text"),
    **dict.fromkeys(("application/json", "text/vtt", "application/x-subrip"), "text"),
    **dict.fromkeys(("audio/mpeg", "audio/mp4", "audio/aac", "audio/wav"), "audio"),
    **dict.fromkeys(("audio/ogg", "audio/flac", "audio/webm"), "audio"),
    **dict.fromkeys(("video/mp4", "video/quicktime"), "video"),
    **dict.fromkeys(("video/webm", "video/x-matroska", "video/ogg"), "video"),
}
"""Every media type that is taken, and the kind of content it becomes."""

OTHER_NAMES = {
    "application/x-pdf": "application/pdf",
    "application/srt": "application/x-subrip",
    "application/xhtml+xml": "text/html",
    "audio/m4a": "audio/mp4",
    "audio/mp3": "audio/mpeg",
    "audio/opus": "audio/ogg",
    "audio/vnd.wave": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/x-aac": "audio/aac",
    "audio/x-flac": "audio/flac",
    "audio/x-m4a": "audio/mp4",
    "audio/x-wav": "audio/wav",
    "image/jpg": "image/jpeg",
    "image/tif": "image/tiff",
    "text/json": "application/json",
    "text/srt": "application/x-subrip",
    "text/x-markdown": "text/markdown",
    "video/x-m4v": "video/mp4",
}
STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"II+\x00", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
)
MEMBERS = ((b"word/", DOCX), (b"ppt/", PPTX), (b"xl/", XLSX))
ENDINGS = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "text/html",
    "srt": "application/x-subrip",
    "vtt": "text/vtt",
}
PACKED = {
    "docx": DOCX,
    "pptx": PPTX,
    "xlsx": XLSX,
    "odt": f"{OPEN}.text",
    "ods": f"{OPEN}.spreadsheet",
    "odp": f"{OPEN}.presentation",
    "epub": "application/epub+zip",
}
STILLS = (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis", b"crx ")
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
TEXT_SIGNS = {7, 8, 9, 10, 11, 12, 13, 27, *range(32, 127), *range(128, 256)}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def kind_of(media_type: str) -> str:
    """pdf, image, office, markdown, text, webpage, audio or video."""
    return ALLOWED[check_media_type(media_type)]


def check_media_type(media_type: str) -> str:
    """The media type as we call it, without parameters; one that is not taken is refused."""
    name = media_type.partition(";")[0].strip().lower()
    name = OTHER_NAMES.get(name, name)
    is_text = name.startswith("text/") and name not in NOT_TEXT
    if name not in ALLOWED and (is_text or name in CODE_TYPES):
        return "text/plain"
    if name not in ALLOWED:
        raise UnsupportedMedia(
            f"Files of type {name or 'unknown'} are not taken; send one of the allowed types.",
            media_type=name,
            allowed=sorted(ALLOWED),
        )
    return name


def check_announcement(media_type: str, filename: str) -> str:
    """What a file that is to come will be sent as; of a kind that is not taken, it is refused."""
    ending = _ending(filename)
    if ending in NEVER_TAKEN:
        raise _not_taken(f"Files that end in .{ending} are not read", filename)
    if media_type in NO_TYPE and ending in CODE_ENDINGS:
        return "text/plain"
    check_media_type(media_type)
    return media_type


def sniff(head: bytes, filename: str) -> str:
    """The true media type of a file that begins with `head`; one that is not taken is refused."""
    if not head:
        raise IngestFailed("The file is empty; send one with content.", reason="empty")
    for look in LOOKS:
        if found := look(head, filename):
            return found
    raise _not_taken("Its first bytes are of no kind that is taken", filename)


def check_declared(declared: str, head: bytes, filename: str) -> str:
    """The media type to keep, once what was declared agrees with the first bytes."""
    wanted = check_media_type(declared)
    found = sniff(head, filename)
    if found == wanted or {found, wanted} <= TEXTS:
        return found if wanted == "text/plain" else wanted
    if any({found, wanted} <= family for family in FAMILIES):
        return wanted
    raise UnsupportedMedia(
        f"The file was declared as {wanted} but is {found}; declare what it is.",
        declared=wanted,
        found=found,
    )


TEXTS = {*ENDINGS.values(), "text/plain"}
FAMILIES: tuple[set[str], ...] = (
    {"audio/mp4", "video/mp4", "video/quicktime"},
    {"audio/webm", "video/webm", "video/x-matroska"},
    {"audio/ogg", "video/ogg"},
)
"""Containers of sound alone or with pictures, which their first bytes do not always tell."""


def _by_start(head: bytes, filename: str) -> str:
    return next((name for start, name in STARTS if head.startswith(start)), "")


def _riff(head: bytes, filename: str) -> str:
    if head[:4] not in (b"RIFF", b"RF64"):
        return ""
    return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12], "")


def _mp4(head: bytes, filename: str) -> str:
    brand = head[8:12]
    if head[4:8] != b"ftyp" or brand in STILLS:
        return ""
    if brand in (b"M4A ", b"M4B ", b"F4A "):
        return "audio/mp4"
    return "video/quicktime" if brand == b"qt  " else "video/mp4"


def _matroska(head: bytes, filename: str) -> str:
    if not head.startswith(b"\x1aE\xdf\xa3"):
        return ""
    if b"webm" not in head[:64]:
        return "video/x-matroska"
    return "audio/webm" if b"V_VP" not in head and b"V_AV1" not in head else "video/webm"


def _ogg(head: bytes, filename: str) -> str:
    if not head.startswith(b"OggS"):
        return ""
    return "video/ogg" if b"theora" in head[:512] else "audio/ogg"


def _mpeg_audio(head: bytes, filename: str) -> str:
    """A frame's first eleven bits are set; its layer tells MP3 from AAC."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0 or head.startswith(UTF_16):
        return ""
    if head[1] & 0xF6 == 0xF0:
        return "audio/aac"
    is_frame = head[1] & 0x06 == 0x02 and head[2] >> 4 not in (0, 15) and head[2] & 0x0C != 0x0C
    return "audio/mpeg" if is_frame else ""


def _zip(head: bytes, filename: str) -> str:
    if not head.startswith(b"PK\x03\x04"):
        return ""
    if head[30:38] == b"mimetype":
        packed = (name for name in ALLOWED if name.encode() == head[38 : 38 + len(name)])
        if found := max(packed, key=len, default=""):
            return found
    for member, name in MEMBERS:
        if member in head:
            return name
    return PACKED.get(_ending(filename), "")


def _pdf(head: bytes, filename: str) -> str:
    return "application/pdf" if b"%PDF-" in head[:1024] else ""


def _refuse_old_formats(head: bytes, filename: str) -> str:
    if head.startswith(OLD_OFFICE):
        raise _not_taken("Old or password-protected Office files are not read", filename)
    if head.startswith(b"{\\rtf"):
        raise _not_taken("Rich Text is not read", filename)
    return ""


def _text(head: bytes, filename: str) -> str:
    if not head.startswith(UTF_16) and any(byte not in TEXT_SIGNS for byte in head):
        return ""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:512].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    if start.startswith(b"webvtt"):
        return "text/vtt"
    if start.startswith((b"<?xml", b"<svg", b"%!ps")) and _ending(filename) not in ENDINGS:
        return ""
    return ENDINGS.get(_ending(filename), "text/plain")


LOOKS: tuple[Callable[[bytes, str], str], ...] = (
    _by_start,
    _riff,
    _mp4,
    _matroska,
    _ogg,
    _zip,
    _mpeg_audio,
    _pdf,
    _refuse_old_formats,
    _text,
)


def _ending(filename: str) -> str:
    return filename.rpartition(".")[2].lower()


def _not_taken(why: str, filename: str) -> UnsupportedMedia:
    return UnsupportedMedia(
        f"{why}; save {filename or 'it'} as PDF, DOCX, PPTX, XLSX, Markdown or text.",
        allowed=sorted(ALLOWED),
    )
