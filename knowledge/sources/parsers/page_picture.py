"""One page of a PDF as a picture."""

import base64
import io
from pathlib import Path
from typing import Any

from knowledge.errors import IngestFailed
from knowledge.sources.parsers.pdf import open_pdf

WIDTH = 1_000
HIGHEST = 3_000


def draw(request: dict[str, Any]) -> dict[str, Any]:
    """The page of this number, WIDTH pixels wide unless it is very high, as WebP in base64."""
    document = open_pdf(Path(request["path"]))
    number = request["page"]
    if not 1 <= number <= len(document):
        raise IngestFailed("The PDF has no such page.", reason="not_extractable")
    page = document[number - 1]
    width, height = page.get_size()
    scale = min(WIDTH / max(width, 1), HIGHEST / max(height, 1))
    picture = page.render(scale=scale).to_pil().convert("RGB")
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=80, method=2)
    return {"webp": base64.b64encode(out.getvalue()).decode()}
