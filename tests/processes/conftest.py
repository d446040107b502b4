"""One running Quarry for the whole walk, and a site in place of everything that is outside."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tests.knowledge.sources.test_podcast import FEED, VTT, item, transcript
from tests.support.files import pdf
from tests.support.pages import ARTICLE
from tests.support.quarry import Server, up
from tests.support.recordings import speech, written
from tests.support.site import DocSite
from tests.support.up import temporary_home


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
def quarry(site: DocSite) -> Iterator[Server]:
    """`manage.py up` with its worker; each process that runs tests has one of its own."""
    with (
        temporary_home() as home,
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


def write_skill(folder: Path, name: str = "Code Review Checklist") -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.format(name=name))


SKILL = """---
name: {name}
description: Review a pull request for correctness, safety and clarity before it is merged.
version: "1.2"
tags: [code-review]
---

# {name}

Use this when a pull request is ready, and before you approve it.

1. Read the description and say in one sentence what the change is for.
2. Run `git diff --stat main` and note which modules are touched.
3. Check that `tests/` changed together with the code that it covers.
4. Follow each error path to its end, and ask what the caller is told.
"""
