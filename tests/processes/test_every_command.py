"""Every command with its options, run beside the server; and none of the documents' is missing."""

import ast
import json
import re
import socket
from collections import defaultdict
from pathlib import Path

import pytest
import requests

from tests.support.agents import ask, tool_names
from tests.support.quarry import Server
from tests.support.site import DocSite
from tests.support.skill_files import write_skill
from tests.support.snippets import Http
from tests.support.up import REPOSITORY
from tests.support.waiting import eventually

HERE = Path(__file__).resolve().parent
DOCUMENTS = ("README.md", "docs/operations.md", "docs/mcp/clients.md")
EXCUSED = {
    "changepassword": "Django's own, which reads the new password from a terminal",
}
MAKE_TARGETS = {
    "run": "the block of the README is walked",
    "test": "runs this",
    "check": "runs this",
}


@pytest.fixture(scope="module")
def shelf(quarry: Server) -> str:
    """A folder of the library, by its name."""
    return str(quarry.rest("POST", "folders", name="Shelf of the walk")["name"])


# Each command ----------------------------------------------------------------------------


def test_mint_token_gives_just_the_reach_that_was_asked_for(quarry: Server, shelf: str) -> None:
    said = quarry.run(
        *("mint_token", "--owner", "admin", "--name", "Walker", "--folder", shelf, "--write"),
        *("--kb-only", "--toolset", "library", "--toolset", "memory"),
        *("--expires-days", "7", "--json"),
    )
    who = quarry.rest("GET", "whoami", json.loads(said)["token"])
    assert [folder["name"] for folder in who["folders"]] == [shelf]
    assert (who["kb_only"], who["toolsets"]) == (True, ["library", "memory"])


def test_invite_gives_links_that_let_people_in(quarry: Server) -> None:
    for options in (
        ("--email", "maya@example.org", "--days", "3", "--url", quarry.url),
        ("--admin",),  # where the server beside it listens
        ("--reset", "admin", "--url", quarry.url),
    ):
        link = quarry.run("invite", *options).strip()
        with requests.Session() as browser:
            assert browser.get(link, timeout=60).status_code == 200


def test_add_and_search_of_a_folder(quarry: Server, shelf: str, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Slate\n\nSlate splits along its planes, says the note.")
    quarry.run(
        *("add", str(tmp_path / "notes.md"), "-", "Slate roofs last for a hundred years or more."),
        *("--folder", shelf, "--tag", "roof", "--tag", "rock", "--owner", "admin", "--wait"),
        stdin="Slate from a pipe is as good as any other slate.",
    )
    found = json.loads(
        quarry.run(
            *("search", "slate", "--mode", "keyword", "--limit", "5", "--folder", shelf),
            *("--json", "--owner", "admin"),
        )
    )
    assert len(found["results"]) == 3
    quarry.run(
        *("add", "A text that is kept out of the index.", "--title", "Apart", "--not-in-kb"),
    )
    kept = quarry.rest("GET", "items?q=Apart")["items"]
    assert [item["in_kb"] for item in kept] == [False]


def test_add_keeps_what_nobody_can_sum_up_without_a_key(quarry: Server) -> None:
    text = "A text that somebody wants to have summed up."
    item_id = quarry.run("add", text, "--transform").split()[0]
    assert quarry.rest("GET", f"items/{item_id}")["text"] == text


def test_crawl_of_a_site_and_again(quarry: Server, site: DocSite, shelf: str) -> None:
    quarry.run(
        *("crawl", site.url("/guide/"), "--name", "Guide", "--include", "/guide/*"),
        *("--exclude", "/guide/old/*", "--depth", "2", "--max-pages", "5"),
        *("--folder", shelf, "--owner", "admin", "--wait"),
    )
    [source] = [each for each in sources(quarry) if each["name"] == "Guide"]
    assert source["state"] == "done"
    quarry.run("crawl", "Guide", "--wait")
    pages = quarry.rest("GET", f"sources/{source['id']}/pages?state=kept")["pages"]
    assert site.url("/guide/models") in {page["url"] for page in pages}
    assert quarry.rest("GET", "search?query=migrations+of+the+schema")["results"]


def sources(quarry: Server) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = quarry.rest("GET", "sources")["sources"]
    return listed


def test_skills_in_and_out_again(quarry: Server, tmp_path: Path) -> None:
    write_skill(tmp_path / "in" / "walk", name="Walk Checklist")
    quarry.run(
        *("skills", "import", str(tmp_path / "in"), "--visibility", "private"),
        *("--owner", "admin"),
    )
    quarry.run("skills", "export", str(tmp_path / "out"), "--archived", "--owner", "admin")
    written = [path.read_text() for path in (tmp_path / "out").rglob("SKILL.md")]
    assert (tmp_path / "in" / "walk" / "SKILL.md").read_text() in written


def test_reputation_of_whom_the_operator_trusts(quarry: Server) -> None:
    agent = quarry.rest("GET", "whoami")["agent_id"]
    said = quarry.run("reputation", "--top", "3", "--trust", agent, "--json")
    assert agent in said
    quarry.run("reputation", "--distrust", agent)


def test_undo_takes_back_what_a_token_wrote(quarry: Server) -> None:
    token = quarry.mint("Regretted")
    added = quarry.rest(
        "POST",
        "ingest",
        token,
        kind="text",
        title="Regrets",
        text="This was a mistake of mine, and a regretted one.",
    )
    beginning = token[:10]
    would = quarry.run("undo", "--token", beginning, "--since", "1h", "--dry-run")
    assert "To be undone: 1 " in would
    before = ("--since", "2h", "--until", "1h", "--yes")
    assert "To be undone: nothing" in quarry.run("undo", "--token", beginning, *before)
    done = quarry.run("undo", "--token", beginning, "--since", "1h", "--yes")
    assert "Undone: 1. Left: 0." in done
    status, _ = quarry.get(f"/api/v1/items/{added['user_item_id']}", quarry.token)
    assert status == 404


def test_doctor_finds_nothing_to_fix(quarry: Server) -> None:
    assert "fail" not in quarry.run("doctor")
    assert "on this machine alone" in quarry.run("doctor", "--security", quarry.url)
    json.loads(quarry.run("doctor", "--json"))


def test_another_worker_beside_the_first(quarry: Server) -> None:
    listening = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'quarry worker%'"
    with quarry.database() as database:

        def listeners() -> int:
            [count] = database.execute(listening).fetchone() or [0]
            return int(count)

        quarry.worker_pid()
        eventually(lambda: listeners() == 3)
        options = ("--threads", "1", "--queues", "default", "--with-parent")
        with quarry.start("worker", *options) as worker:
            eventually(lambda: listeners() == 4)
            assert worker.stdin
            worker.stdin.close()
            worker.stdin = None
            assert worker.wait(60) == 0
        eventually(lambda: listeners() == 3)


def test_mcp_alone_over_http(quarry: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    options = ("--transport", "http", "--host", "127.0.0.1", "--port", port)
    with quarry.start("mcp_server", *options) as server:
        eventually(lambda: listens(int(port)) or server.poll() is not None)
        address = f"http://127.0.0.1:{port}/mcp"
        headers = {"Authorization": f"Bearer {quarry.token}"}
        assert "search_knowledge_base" in ask(Http(address, headers), tool_names)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# None is missing -------------------------------------------------------------------------


def test_every_command_of_the_table_in_the_readme_is_walked() -> None:
    table = (REPOSITORY / "README.md").read_text().partition("| Command |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`make (\w+)`", table)) == MAKE_TARGETS.keys()
    assert set(re.findall(r"`manage\.py (\w+)`", table)) == walked().keys()


def test_every_option_that_the_page_on_operations_lists_is_walked() -> None:
    page = (REPOSITORY / "docs" / "operations.md").read_text().partition("## Commands")[2]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", page.partition("\n## ")[0], re.MULTILINE)
    assert {name for name, _ in rows} == walked().keys()
    missing = {name: set(options(row)) - walked()[name] for name, row in rows}
    assert {name: rest for name, rest in missing.items() if rest} == {}


@pytest.mark.parametrize("file", DOCUMENTS)
def test_every_command_that_a_sentence_names_is_walked(file: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (REPOSITORY / file).read_text(), flags=re.M | re.S)
    named = re.findall(r"`manage\.py (\w+)([^`]*)`", text)
    assert named
    strangers = [
        f"{command}{rest}"
        for command, rest in named
        if command not in EXCUSED and not set(options(rest)) <= walked().get(command, {""})
    ]
    assert strangers == []


def options(text: str) -> list[str]:
    return re.findall(r"(?<![\w-])--[a-z][\w-]*", text)


def walked() -> dict[str, set[str]]:
    """Each command that a function in this folder runs, with every option that stands in it."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in HERE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                for command in commands_in(node):
                    found[command] |= {word for word in strings_in(node) if word[:2] == "--"}
    return found


def commands_in(function: ast.FunctionDef) -> set[str]:
    """The first word of each `run` and `start`; and `up`, which is a function."""
    found = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if name == "up":
            found.add("up")
        elif name in ("run", "start"):
            found |= {*strings_in(node)[:1]}
    return found


def strings_in(tree: ast.AST) -> list[str]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    return [node.value for node in nodes if isinstance(node.value, str)]
