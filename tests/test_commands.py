"""The commands that people type, as they see them."""

import io
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection

from knowledge.access import Access
from knowledge.library import create_folder
from knowledge.models import Item

TEXT = "Decisions: ship the API docs. The folder rename is deferred to June."


@pytest.fixture(autouse=True)
def admin(db: None) -> User:
    return User.objects.create_superuser("admin")


def run(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


# add -------------------------------------------------------------------------------------


def test_add_takes_a_file_standard_input_or_the_words_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "notes.md"
    file.write_text(TEXT)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"# From a pipe\n\n{TEXT}"))
    longer_than_a_name = f"{TEXT} " * 10
    for source in (str(file), "-", TEXT, longer_than_a_name):
        assert "(done)" in run("add", source)
    titles = [item.title for item in Item.objects.order_by("created_at")]
    assert titles == ["notes.md", "From a pipe", TEXT, longer_than_a_name[:80].strip()]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("missing-notes-of-march.md", "No such file or directory"),
        ("./my notes of march.md", "No such file or directory"),
        ("/", "Is a directory"),
    ],
)
def test_add_never_takes_a_path_for_a_text(source: str, reason: str) -> None:
    with pytest.raises(CommandError, match=f"^{source} cannot be read: {reason}"):
        run("add", source)
    assert not Item.objects.exists()


def test_add_files_into_a_folder_that_there_is_and_names_them_otherwise(admin: User) -> None:
    create_folder(Access.whole_library(admin.pk), "Research")
    run("add", TEXT, "--folder", "research")
    assert Item.objects.get().folders.get().name == "Research"
    with pytest.raises(CommandError, match="no folder 'Nowhere'; there are: 'Research'"):
        run("add", TEXT, "--folder", "Nowhere")
    assert Item.objects.count() == 1


# search ----------------------------------------------------------------------------------


def test_search_prints_score_title_passage_and_link_with_a_line_between_hits() -> None:
    for title in ("One", "Two"):
        run("add", TEXT, "--title", title)
    first, second, rest = run("search", "folder rename").split("\n\n")
    assert rest == ""
    for number, hit in enumerate((first, second), start=1):
        head, passage, link = hit.split("\n   ")
        assert head.startswith(f"{number}. (")
        assert passage == TEXT
        assert link.startswith("quarry://items/")
    assert run("search", "folder rename", "--folder", "") == run("search", "folder rename")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["", "--mode", "keyword"], "query must have between 1 and 2,000"),
        (["x", "--limit", "21"], "limit must be between 1 and 20; it is 21"),
        (["x", "--owner", "bob"], "no user 'bob'; there are: admin"),
    ],
)
def test_search_refuses_what_it_cannot_do_in_a_sentence(options: list[str], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        run("search", *options)


def test_a_command_before_the_first_start_says_what_to_do() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE auth_user RENAME TO elsewhere")
    with pytest.raises(CommandError, match="no tables yet; `make run` makes them"):
        run("search", "x")


# doctor ----------------------------------------------------------------------------------


def test_doctor_finds_nothing_to_fix_in_a_new_library() -> None:
    found = run("doctor")
    assert "users: 1; tokens not revoked: 0" in found
    assert "fail" not in found
