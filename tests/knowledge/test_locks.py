"""Advisory locks: one list of them, ranges that never meet, and no number anywhere else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.db import connection

from knowledge.locks import NAME_KEY, Lock, new_worker_key, thing_key

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for app in ("knowledge", "tokens", "mcp_gateway", "config")
    for path in (ROOT / app).rglob("*.py")
    if "migrations" not in path.parts
)
CALL = re.compile(r"pg_\w*advisory\w*\(")
LOCKS = re.compile(
    r"pg_\w*advisory_(?:xact_)?(?:un)?lock(?:_shared)?\((%s(?:, %s)?|worker|\{\w+\})\)"
)
MADE_BY_LOCKS = {"self.key", "key", "name"}
"""Values of `new_worker_key`, of `thing_key` and of a name, which `NAME_KEY` hashes."""


def test_no_lock_is_taken_by_a_number_or_a_constant_of_its_own() -> None:
    assert {str(path.relative_to(ROOT)): found for path in FILES if (found := strays(path))} == {}


@pytest.mark.parametrize(
    ("code", "passes"),
    [
        ('cursor.execute("SELECT pg_advisory_lock(%s)", [Lock.REINDEX])', True),
        ('cursor.execute("SELECT pg_advisory_lock(%s, %s)", [Lock.IMPORT, owner_id])', True),
        ('ask("SELECT pg_try_advisory_lock(%s)", Lock.REINDEX)', True),
        ('cursor.execute("SELECT pg_advisory_lock(%s)", [7])', False),
        ('cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])', False),
        ('cursor.execute("SELECT pg_advisory_lock(%s, %s)", [owner_id, Lock.IMPORT])', False),
        ('cursor.execute("SELECT pg_advisory_lock(7)")', False),
        ('cursor.execute(f"SELECT pg_advisory_lock({_LOCK})")', False),
        ('cursor.execute("SELECT pg_advisory_lock(" + str(_LOCK) + ")")', False),
        ('_TAKE = "SELECT pg_advisory_lock(%s)"', False),
    ],
)
def test_the_walk_sees_a_stray_number(code: str, passes: bool) -> None:
    assert (list(stray_statements(ast.parse(code))) == []) is passes


def strays(path: Path) -> list[str]:
    return list(stray_statements(ast.parse(path.read_text())))


def stray_statements(tree: ast.AST) -> Iterator[str]:
    """Each statement that takes a lock whose key does not come from `knowledge.locks`."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(parents.get(node), ast.JoinedStr):
            continue
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and CALL.search(statement(node)):
            text = statement(node)
            taken = LOCKS.findall(text)
            if len(taken) != len(CALL.findall(text)) or not all(
                is_known(key, parents.get(node)) for key in taken
            ):
                yield text


def statement(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return ast.unparse(node)


def is_known(key: str, call: ast.AST | None) -> bool:
    """A column, the hash of a name, or a value that the call passes from the list of locks."""
    if key in ("worker", "{NAME_KEY}"):
        return True
    if not key.startswith("%s") or not isinstance(call, ast.Call) or len(call.args) < 2:
        return False
    passed = call.args[1]
    first = passed.elts[0] if isinstance(passed, ast.List) else passed
    return (
        ast.unparse(first) in MADE_BY_LOCKS
        or re.fullmatch("|".join(f"Lock.{lock.name}" for lock in Lock), ast.unparse(first))
        is not None
    )


def test_the_keys_of_things_workers_and_names_never_meet_a_lock(db: None) -> None:
    numbers = [0, 2**63, 2**64 - 1, *Lock, *(uuid4().int for _ in range(1_000))]
    things = {thing_key(number) for number in numbers}
    workers = {new_worker_key() for _ in range(1_000)}
    assert all(0 < lock < 2**31 for lock in Lock)
    assert all(2**32 <= key < 2**62 for key in things)
    assert all(2**62 <= key < 2**63 for key in workers)
    with connection.cursor() as cursor:
        for name in ("registry", "another", ""):
            cursor.execute(f"SELECT {NAME_KEY}", [name])
            assert -(2**63) <= cursor.fetchone()[0] < 0


def test_a_content_keeps_the_key_that_earlier_releases_gave_it() -> None:
    content = UUID("5e0d3cb8-6f3c-4b62-9a57-0d5f4c1c7a11")
    assert thing_key(content.int) == content.int & (2**63 - 1)
