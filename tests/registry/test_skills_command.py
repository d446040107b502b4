"""`manage.py skills`: a folder of SKILL.md files in, and out again."""

import io
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from knowledge.models import Item, Version
from tests.registry.contributions_for_tests import SKILL_MD, skill


def run(*command: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("skills", *command, "--owner", "ada", stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def folder(owner: User, tmp_path: Path) -> Path:
    """Two skills, one with files and another skill below it."""
    review, nested = tmp_path / "review", tmp_path / "review" / "more" / "release"
    for place in (review / "scripts", nested, tmp_path / ".git"):
        place.mkdir(parents=True)
    (review / "SKILL.md").write_bytes(SKILL_MD.replace("\n", "\r\n").encode())
    (review / "scripts" / "check.py").write_text("print('ok')\n")
    (review / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    (review / ".DS_Store").write_text("hidden")
    (review / "link.txt").symlink_to("/etc/hostname")
    (nested / "SKILL.md").write_text("\ufeff" + skill("Release notes"))
    (nested / "template.md").write_text("# Notes\n")
    (tmp_path / ".git" / "SKILL.md").write_text(skill("Never"))
    return tmp_path


def files_below(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_every_skill_below_a_folder_is_taken_with_its_own_files(folder: Path) -> None:
    out, err = run("import", str(folder))
    assert err == ""
    assert "review/SKILL.md: version 1, quality" in out
    versions = {each.item.title: each for each in Version.objects.select_related("item__content")}
    assert versions.keys() == {"Code Review Checklist", "Release notes"}
    assert versions["Code Review Checklist"].files.keys() == {"scripts/check.py", "logo.png"}
    assert versions["Release notes"].files.keys() == {"template.md"}
    assert set(Item.objects.values_list("visibility", "added_by_agent")) == {("network", "ada")}


def test_taken_twice_nothing_changes(folder: Path) -> None:
    run("import", str(folder), "--visibility", "org")
    before = list(Item.objects.values())
    out, _ = run("import", str(folder), "--visibility", "org")
    assert out.count("there already") == 2
    assert list(Item.objects.values()) == before
    assert set(Item.objects.values_list("visibility", flat=True)) == {"org"}


def test_a_round_trip_is_the_same_bytes(folder: Path, tmp_path_factory) -> None:
    run("import", str(folder))
    once, twice = tmp_path_factory.mktemp("once"), tmp_path_factory.mktemp("twice")
    out, _ = run("export", str(once))
    assert "2 skills written." in out
    written = files_below(once)
    assert written["code-review-checklist/SKILL.md"] == (folder / "review/SKILL.md").read_bytes()
    assert written["code-review-checklist/logo.png"] == (folder / "review/logo.png").read_bytes()
    assert (
        written["release-notes/SKILL.md"] == (folder / "review/more/release/SKILL.md").read_bytes()
    )
    Item.objects.all().delete()
    run("import", str(once))
    run("export", str(twice))
    assert files_below(twice) == written


def test_skills_whose_names_look_alike_are_written_apart(folder: Path, tmp_path_factory) -> None:
    for name in ("A b", "a-b", "A  B!"):
        place = folder / name.replace(" ", "_")
        place.mkdir()
        (place / "SKILL.md").write_text(skill(name))
    run("import", str(folder))
    out = tmp_path_factory.mktemp("out")
    run("export", str(out))
    assert {path.name for path in out.iterdir()} >= {"a-b", "a-b-2", "a-b-3"}


def test_bad_skills_are_named_with_their_errors_and_the_others_taken(folder: Path) -> None:
    for name, text in (
        ("blank", b"---\nname: x\nkp: 5\n---\n"),
        ("latin", "---\nname: caf\xe9\n".encode("latin-1")),
        ("secret", skill("Secret", "\nghp_" + "a1B2c3D4e5F6" * 3).encode()),
    ):
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_bytes(text)
    err = io.StringIO()
    with pytest.raises(CommandError, match="3 of 5 skills could not be taken"):
        call_command(
            *("skills", "import", str(folder), "--owner", "ada"),
            stdout=io.StringIO(),
            stderr=err,
        )
    told = err.getvalue()
    assert "blank/SKILL.md: SKILL.md is not valid" in told
    assert "  description: is required" in told
    assert "  kp: must be an object" in told
    assert "latin/SKILL.md: SKILL.md must be UTF-8." in told
    assert "secret/SKILL.md: This looks like a secret" in told
    assert Item.objects.count() == 2


def test_a_folder_without_skills_and_an_unknown_owner_are_told(owner: User, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"There is no SKILL\.md below"):
        run("import", str(tmp_path))
    with pytest.raises(CommandError, match="There is no user 'nobody'"):
        call_command("skills", "export", str(tmp_path), "--owner", "nobody")
