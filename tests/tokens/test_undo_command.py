"""`manage.py undo`, as people type it."""

import builtins
import io
import sys
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from knowledge.access import Access
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import delete_item
from knowledge.models import Change, Item
from tests.support.library import Add, Mint
from tests.support.undo import added, snapshot
from tokens.models import Token


def run(*options: str) -> str:
    out = io.StringIO()
    call_command("undo", *options, stdout=out)
    return out.getvalue()


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A person at a terminal, and what they will answer."""
    answers: list[str] = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(builtins, "input", lambda _: answers.pop(0))
    return answers


def test_it_shows_asks_and_undoes(mint: Mint, add: Add, typing: list[str]) -> None:
    token, kept = mint(), add("Kept")
    before = snapshot()
    added(token.access, "Agent's")
    delete_item(token.access, kept.pk)
    typing.append("y")
    told = run("--token", str(token.row.pk), "--since", "1h")
    assert "agent (qry_" in told
    assert "It may go on writing meanwhile; revoke it first." in told
    assert "To be undone: 1 item added, 1 item deleted." in told
    assert "item deleted: Kept" in told
    assert told.endswith("Undone: 2. Left: 0.\n")
    assert snapshot() == before


def test_what_is_left_is_named(mint: Mint, add: Add, library: Access) -> None:
    token, item = mint(), add("One")
    update_item(token.access, item.pk, ItemChanges(title="Spoilt"))
    update_item(library, item.pk, ItemChanges(title="By hand"))
    told = run("--token", str(token.row.pk), "--since", "1h", "--yes")
    assert "To be undone: nothing." in told
    assert "item changed: Spoilt (It was changed by somebody else since.)" in told


@pytest.mark.parametrize("options", [["--dry-run"], ["--dry-run", "--yes"]], ids=str)
def test_a_dry_run_changes_nothing(mint: Mint, options: list[str]) -> None:
    token = mint()
    added(token.access, "Agent's")
    added(token.access, "Agent's second")
    assert "2 items added" in run("--token", token.row.prefix, "--since", "1h", *options)
    assert Item.objects.count() == 2


def test_without_a_yes_nothing_happens(
    mint: Mint, typing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = mint()
    added(token.access, "Agent's")
    typing += ["", "no"]
    for _ in range(2):
        with pytest.raises(CommandError, match="Nothing was undone"):
            run("--token", token.row.prefix, "--since", "1h")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    with pytest.raises(CommandError, match="Say --yes"):
        run("--token", token.row.prefix, "--since", "1h")
    assert Item.objects.count() == 1


@pytest.mark.parametrize(
    ("since", "until", "count"),
    [
        ("1h", None, 0),
        ("6h", None, 1),
        ("400min", None, 1),
        ("1d", None, 1),
        ("2026-01-01", None, 1),
        ("1d", "6h", 0),
        ("1d", "4h", 1),
    ],
)
def test_the_span_is_told_by_ages_or_dates(
    mint: Mint, since: str, until: str | None, count: int
) -> None:
    token = mint()
    added(token.access, "Five hours ago")
    Change.objects.update(at=timezone.now() - timedelta(hours=5))
    run(
        "--token",
        token.row.prefix,
        "--since",
        since,
        *(["--until", until] if until else []),
        "--yes",
    )
    assert Item.objects.count() == 1 - count


@pytest.mark.parametrize(
    ("token", "since", "complaint"),
    [
        ("qry_nobody", "1h", "There is no token 'qry_nobody'"),
        ("", "1h", "There is no token ''"),
        ("qry_", "1h", "More than one token starts with 'qry_'"),
        ("known", "soon", "--since must be an age such as 30min, 1h or 7d"),
        ("known", "2999-01-01", "--since must come before --until"),
    ],
)
def test_a_mistake_is_told_in_one_line(mint: Mint, token: str, since: str, complaint: str) -> None:
    known = str(mint().row.pk)
    mint()
    with pytest.raises(CommandError, match=complaint):
        run("--token", known if token == "known" else token, "--since", since, "--yes")


def test_a_revoked_token_is_undone_like_any_other(mint: Mint) -> None:
    token = mint()
    added(token.access, "Agent's")
    Token.objects.all().revoke()
    told = run("--token", token.row.prefix, "--since", "1h", "--yes")
    assert "is revoked." in told
    assert "revoke it first" not in told
    assert not Item.objects.exists()
