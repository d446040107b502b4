"""Pictures: their size is known from the header, before any of them is decoded."""

from pathlib import Path

from PIL import Image

from knowledge.errors import IngestFailed
from knowledge.sources.extracted import Extracted
from knowledge.sources.parsers.dispatch import Read
from knowledge.sources.parsers.draft import broken_file

FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF")
MOST_PIXELS = 100_000_000


def read(path: Path, filename: str) -> Read:
    """No text yet, and every page that OCR should look at: a TIFF may have many."""
    with open_image(path) as image:
        pages = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
        return Read(Extracted(text=""), list(range(1, pages + 1)))


def open_image(path: Path, page: int = 1) -> Image.Image:
    """The picture, not decoded yet, and small enough to be."""
    Image.MAX_IMAGE_PIXELS = None  # our own limit is named in our own words
    try:
        image = Image.open(path, formats=FORMATS)
        image.seek(page - 1)
    except (OSError, SyntaxError, EOFError) as error:
        raise broken_file("it cannot be opened as a picture") from error
    if image.width * image.height > MOST_PIXELS:
        raise IngestFailed(
            f"The picture has {image.width:,} × {image.height:,} pixels, more than "
            f"{MOST_PIXELS // 1_000_000} million; scale it down.",
            reason="too_large_image",
        )
    return image
