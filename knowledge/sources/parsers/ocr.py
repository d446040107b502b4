"""Text out of pictures, by the engine that is installed: rapidocr, else tesseract."""

import io
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from knowledge.sources.parsers.draft import broken_file
from knowledge.sources.parsers.parent_watch import die_with_parent

LONGEST_SIDE = 1_800
DOTS_PER_INCH = 200


def engine(search_path: str) -> str:
    """The engine that a child would use; empty when none is installed."""
    if find_spec("rapidocr") and find_spec("onnxruntime"):
        return "rapidocr"
    return "tesseract" if shutil.which("tesseract", path=search_path) else ""


def read_pages(request: dict[str, Any]) -> dict[str, Any]:
    """The text on each of the `pages` of a PDF or picture at `path`."""
    path = Path(request["path"])
    is_pdf = request["media_type"] == "application/pdf"
    picture = _pdf_page if is_pdf else _picture
    read: Callable[[Any], str] = _by_rapidocr if request["engine"] == "rapidocr" else _by_tesseract
    try:
        return {"texts": [[page, read(picture(path, page))] for page in request["pages"]]}
    except (OSError, SyntaxError, ValueError) as error:
        raise broken_file("a page of it cannot be drawn") from error


def _pdf_page(path: Path, page: int) -> Any:
    from knowledge.sources.parsers.pdf import open_pdf

    sheet = open_pdf(path)[page - 1]
    scale = min(DOTS_PER_INCH / 72, LONGEST_SIDE / max(*sheet.get_size(), 1))
    return sheet.render(scale=scale).to_pil().convert("RGB")


def _picture(path: Path, page: int) -> Any:
    from PIL import ImageOps

    from knowledge.sources.parsers.images import open_image

    image = open_image(path, page)
    image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return ImageOps.exif_transpose(_on_white(image))


def _on_white(image: Any) -> Any:
    """Transparent pixels would become black when the image is flattened."""
    from PIL import Image

    if "A" not in image.getbands() and "transparency" not in image.info:
        return image.convert("RGB")
    paper = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(paper, image.convert("RGBA")).convert("RGB")


def _by_rapidocr(image: Any) -> str:
    from knowledge.sources.parsers.layout import in_reading_order

    return in_reading_order(_paddle_ocr().boxes(image))


@cache
def _paddle_ocr() -> Any:
    from knowledge.sources.parsers.paddle_ocr import PaddleOcr

    return PaddleOcr.installed()


def _by_tesseract(image: Any) -> str:
    picture = io.BytesIO()
    image.save(picture, "PNG")
    parent = os.getpid()
    done = subprocess.run(
        ["tesseract", "-", "-"],
        input=picture.getvalue(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Safe here, where there is one thread alone.
        preexec_fn=lambda: die_with_parent(parent),
        check=False,
    )
    if done.returncode:
        raise ValueError("tesseract could not read the picture")
    return done.stdout.decode("utf-8", "replace")
