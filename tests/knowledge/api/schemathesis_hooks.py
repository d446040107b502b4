"""What schemathesis cannot make up by itself: bodies that are archives."""

from io import BytesIO
from zipfile import ZipFile

import schemathesis
from hypothesis import strategies as st


def _archive(name: str, text: str) -> bytes:
    held = BytesIO()
    with ZipFile(held, "w") as archive:
        archive.writestr(name, text)
    return held.getvalue()


names = st.sampled_from(["items.jsonl", "folders.jsonl", "contents.jsonl", "manifest.json"])
schemathesis.openapi.media_type(
    "application/zip", st.builds(_archive, names, st.text()) | st.binary()
)
