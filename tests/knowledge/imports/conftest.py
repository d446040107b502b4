"""A site whose pages are bookmarked, readers in this process, and no waits after failures."""

from collections.abc import Callable
from pathlib import Path

import pytest

from knowledge.access import Access
from knowledge.imports import batches
from knowledge.ingest import arrivals
from knowledge.models import ImportBatch
from tests.support.children import read_in_this_process

Bring = Callable[..., ImportBatch]


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "RETRY_SEC", 0)
    read_in_this_process(monkeypatch)


@pytest.fixture
def read(library: Access, tmp_path: Path) -> Bring:
    """Read an export as the owner, up to its preview."""

    def read_one(body: str | bytes, *, access: Access = library) -> ImportBatch:
        path = tmp_path / "export"
        path.write_bytes(body.encode() if isinstance(body, str) else body)
        return batches.read_import(access, path, filename="bookmarks.html")

    return read_one
