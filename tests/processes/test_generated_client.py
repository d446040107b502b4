"""A client that openapi-python-client makes of the OpenAPI document, at work."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.support.quarry import Server
from tests.support.skill_files import SKILL
from tests.support.up import REPOSITORY

WORDS = "Porphyry is a purple stone that emperors had brought from the desert."
PACKAGE = "generated_quarry_client"


@dataclass(frozen=True)
class Generated:
    """The package, and a client of it that holds a token."""

    client: Any

    def ask(self, route: str, *path: Any, **arguments: Any) -> Any:
        """The parsed answer of a function such as `items.ingest`; any error is a failure."""
        function = importlib.import_module(f"{PACKAGE}.api.{route}")
        answer = function.sync_detailed(*path, client=self.client, **arguments)
        assert answer.status_code < 300, answer.content
        if answer.headers.get("Content-Type") == "application/json":
            assert keys_of(answer.parsed.to_dict()) == keys_of(json.loads(answer.content))
        return answer.parsed

    def make(self, model: str, **fields: Any) -> Any:
        return self.model(model).from_dict(fields)

    def model(self, name: str) -> Any:
        return getattr(importlib.import_module(f"{PACKAGE}.models"), name)


def keys_of(value: Any) -> Any:
    """The shape of an answer: what has moments and numbers is compared by its fields alone."""
    if isinstance(value, dict):
        return {key: keys_of(each) for key, each in value.items()}
    return [keys_of(each) for each in value] if isinstance(value, list) else None


@pytest.fixture(scope="module")
def generated(quarry: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generated]:
    folder = tmp_path_factory.mktemp("client")
    generate(quarry, folder)
    sys.path.insert(0, str(folder))
    package = importlib.import_module(PACKAGE)
    token = quarry.mint("Generated")
    with package.AuthenticatedClient(base_url=quarry.url, token=token, timeout=60) as client:
        yield Generated(client)
    sys.path.remove(str(folder))


def generate(quarry: Server, folder: Path) -> None:
    """As docs/rest/README.md says; a warning would be a part that is missing."""
    (folder / "config.yml").write_text(config_of_the_documents() + "post_hooks: []\n")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
    options = ["--url", f"{quarry.url}/api/v1/openapi.json", "--config", "config.yml"]
    made = ["--meta", "none", "--output-path", PACKAGE]
    ended = subprocess.run(
        [*command, *options, *made], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def config_of_the_documents() -> str:
    page = (REPOSITORY / "docs" / "rest" / "README.md").read_text()
    assert "openapi-python-client generate --url http://localhost:8000/api/v1/openapi.json" in page
    return page.partition("```yaml\n")[2].partition("```")[0]


def test_the_generated_client_adds_files_finds_and_changes(generated: Generated) -> None:
    assert "write" in generated.ask("tokens.whoami").capabilities
    made = generated.make("FolderInput", name="Generated")
    folder = generated.ask("folders.create_folder", body=made)
    asked = generated.make("IngestInput", kind="text", title="Porphyry", text=WORDS)
    item_id = generated.ask("items.ingest", body=asked).user_item_id
    filing = generated.make("FilingInput", folder_ids=[str(folder.id)])
    generated.ask("items.file_item", item_id, body=filing)
    changes = generated.make("ItemChangesInput", title="Red porphyry", tags=["stone"])
    generated.ask("items.update_item", item_id, body=changes)
    whole = generated.ask("items.get_item", item_id)
    assert (whole.title, whole.text) == ("Red porphyry", WORDS)
    listed = generated.ask("items.list_items", folder_id=folder.id)
    assert [each.user_item_id for each in listed.items] == [item_id]
    body = generated.make("SearchInput", query="purple stone of emperors")
    found = generated.ask("search.search_by_body", body=body)
    assert found.results[0].user_item_id == item_id
    archive = generated.ask("exchange.export_library")
    assert "items.jsonl" in ZipFile(BytesIO(archive.payload.read())).namelist()
    generated.ask("items.delete_item", item_id)


def test_the_generated_client_searches_by_an_address(generated: Generated) -> None:
    generated.ask("search.search", query="purple stone of emperors")


def test_the_generated_client_remembers_and_contributes(generated: Generated) -> None:
    asked = generated.make(
        "MemoryInput", title="Porphyry is hard", content=WORDS, entity_type="pattern"
    )
    learned = generated.ask("memory.remember", body=asked)
    asked = generated.make("MemorySearchInput", query="how hard is porphyry")
    assert generated.ask("memory.search_memory", body=asked).results
    related = generated.model("ExploreMode")("related")
    assert generated.ask("memory.explore", entity_id=learned.id, mode=related)
    goal = generated.make("ContextInput", goal="work porphyry")
    assert generated.ask("memory.build_context", body=goal)
    skill = generated.make("SkillInput", skill_md_content=SKILL.format(name="Porphyry Checklist"))
    contributed = generated.ask("registry.contribute_skill", body=skill)
    assert generated.ask("registry.get_skill", contributed.id).id == contributed.id
    assert generated.ask("registry.find_skills", query="porphyry", min_quality=0.0).results
    assert generated.ask("usage.get_usage").quota
    assert generated.ask("tokens.list_activity").events
