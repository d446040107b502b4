"""One running Quarry for the whole walk, and a site in place of everything that is outside."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tests.support.files import pdf
from tests.support.pages import ARTICLE
from tests.support.podcasts import FEED, VTT, item, transcript
from tests.support.quarry import Server, up
from tests.support.recordings import speech, written
from tests.support.site import DocSite
from tests.support.skill_files import write_skill
from tests.support.up import copied_home


@pytest.fixture(scope="package")
def site() -> Iterator[DocSite]:
    """Answers for every address of the documents, by its path."""
    with HTTPServer(host="127.0.0.1", port=0) as server:
        site = DocSite(server)
        site.pages["/wiki/Quarry"] = ARTICLE
        episode = item("blade", more=transcript("/t.vtt", "text/vtt"))
        feed = FEED.format(items=episode).encode()
        site.files["/feed.xml"] = (feed, "application/rss+xml")
        site.files["/t.vtt"] = (VTT.encode(), "text/vtt")
        for root in ("/en/5.2/", "/guide/", "/handbook/"):
            site.write(root, "an overview", f"{root}models", f"{root}old/views")
            site.write(f"{root}models", "migrations of the schema")
            site.write(f"{root}old/views", "class-based views")
        yield site


@pytest.fixture(scope="package")
def quarry(site: DocSite, migrated_home: Path) -> Iterator[Server]:
    """`manage.py up` with its worker; each process that runs tests has one of its own."""
    with (
        copied_home(migrated_home) as home,
        up(home, site.host, "--host", "127.0.0.1", "--port", "0") as server,
    ):
        yield server
        assert "Traceback" not in server.complained


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the documents take for granted: a paper, a talk, and skills under one's home."""
    (tmp_path / "paper.pdf").write_bytes(pdf("She said that limestone is soft.", "Granite."))
    written(tmp_path / "talk.mp3", speech())
    write_skill(tmp_path / ".claude" / "skills" / "review")
    return tmp_path
