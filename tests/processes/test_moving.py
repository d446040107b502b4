"""A library moves from one server to another by its export, and nothing of it is lost."""

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.support.contributions import TRACE
from tests.support.quarry import Server, up
from tests.support.site import DocSite
from tests.support.skill_files import SKILL
from tests.support.up import copied_home

WORDS = "Travertine is a limestone that hot springs leave behind, band by band."


def test_what_another_server_imports_it_exports_to_the_same_bytes(
    quarry: Server, site: DocSite, migrated_home: Path, tmp_path: Path
) -> None:
    fill(quarry, site)
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    quarry.run("export", str(first), "--owner", "admin")
    assert_of_everything(first)
    with copied_home(migrated_home) as home, up(home, site.host, "--no-worker") as other:
        other.run("import", str(first), "--owner", "admin")
        other.run("export", str(second), "--owner", "admin")
        assert members(second) == members(first)
        assert second.read_bytes() == first.read_bytes()
        assert other.search(other.token, "travertine of hot springs")


def fill(quarry: Server, site: DocSite) -> None:
    """Something of the library, of memory, of sources and of the registry, with all their ties."""
    token = quarry.mint("Mover")
    folder = quarry.rest("POST", "folders", token, name="To be moved")["id"]
    added = quarry.rest("POST", "ingest", token, kind="text", title="Travertine", text=WORDS)
    quarry.rest("POST", f"items/{added['user_item_id']}/folders", token, folder_ids=[folder])
    quarry.rest("POST", "ingest", token, kind="url", url=site.url("/wiki/Quarry"))
    project = remember(quarry, token, "Rebuild the baths", entity_type="project")
    first = remember(quarry, token, "Order travertine", entity_type="task", project=project)
    remember(quarry, token, "Lay it", entity_type="task", project=project, depends_on=[first])
    learned = remember(quarry, token, "Bands show its age", entity_type="pattern")
    quarry.rest("POST", f"items/{learned}/relations", token, target_id=first, type="supports")
    skill = SKILL.format(name="Stone Checklist")
    quarry.rest("POST", "skills", token, skill_md_content=skill, visibility="network")
    quarry.rest("POST", "knowledge", token, unit=TRACE, visibility="network")
    quarry.run("crawl", site.url("/handbook/"), "--name", "Handbook", "--wait")
    quarry.wait_for_jobs()


def remember(quarry: Server, token: str, title: str, **fields: Any) -> str:
    content = f"{title}: the old stone of the baths is worn and must be replaced."
    made = quarry.rest("POST", "memory", token, title=title, content=content, **fields)
    return str(made["id"])


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def assert_of_everything(path: Path) -> None:
    files = {name: data.splitlines() for name, data in members(path).items()}
    for name in ("folders", "contents", "items", "relations", "versions", "sources"):
        assert files[f"{name}.jsonl"], name
    types = {json.loads(line)["type"] for line in files["items.jsonl"]}
    assert {"document", "project", "task", "pattern", "skill"} <= types
    [source] = [json.loads(line) for line in files["sources.jsonl"] if b"Handbook" in line]
    assert len(source["pages"]) == 3
