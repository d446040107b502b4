"""`manage.py skills`: a folder of SKILL.md files in, and out again."""

import io
import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from knowledge.models import Item, Version
from tests.support.contributions import SKILL_MD, skill


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
    assert "review/SKILL.md: version 1, private, quality" in out
    versions = {each.item.title: each for each in Version.objects.select_related("item__content")}
    assert versions.keys() == {"Code Review Checklist", "Release notes"}
    assert versions["Code Review Checklist"].files.keys() == {"scripts/check.py", "logo.png"}
    assert versions["Release notes"].files.keys() == {"template.md"}
    assert set(Item.objects.values_list("visibility", "added_by_agent")) == {("private", "ada")}


def test_taken_twice_nothing_changes(folder: Path) -> None:
    run("import", str(folder), "--visibility", "org")
    before = list(Item.objects.values())
    out, _ = run("import", str(folder), "--visibility", "org")
    assert out.count("there already") == 2
    assert list(Item.objects.values()) == before
    assert set(Item.objects.values_list("visibility", flat=True)) == {"org"}


def test_what_its_owner_has_archived_stays_so_and_is_counted(folder: Path) -> None:
    run("import", str(folder), "--visibility", "network")
    Item.objects.filter(attributes__name="Release notes").update(archived=True)
    before = list(Item.objects.values())
    out, _ = run("import", str(folder), "--visibility", "network")
    assert "release/SKILL.md: archived, left alone" in out
    assert "1 skills are archived and were left so." in out
    assert list(Item.objects.values()) == before


def test_another_version_of_what_is_archived_brings_it_back_and_says_so(folder: Path) -> None:
    run("import", str(folder))
    Item.objects.update(archived=True)
    (folder / "review/SKILL.md").write_text(skill(text="\nAnd once more."))
    out, _ = run("import", str(folder))
    assert "review/SKILL.md: version 2, brought back from the archive, private, quality" in out
    assert list(Item.objects.filter(archived=True).values_list("attributes__name", flat=True)) == [
        "Release notes"
    ]


def test_archived_skills_are_written_only_when_asked_for(folder: Path, tmp_path_factory) -> None:
    run("import", str(folder))
    Item.objects.filter(attributes__name="Release notes").update(archived=True)
    some, every = tmp_path_factory.mktemp("some"), tmp_path_factory.mktemp("every")
    assert "1 skills written." in run("export", str(some))[0]
    assert {path.name for path in some.iterdir()} == {"code-review-checklist"}
    assert "2 skills written." in run("export", str(every), "--archived")[0]


def test_a_folder_written_before_holds_just_the_newest_version(folder: Path, owner: User) -> None:
    out = folder / ".out"
    run("import", str(folder))
    run("export", str(out))
    place = out / "code-review-checklist"
    other = place / "within" / "SKILL.md"
    other.parent.mkdir()
    other.write_text(skill("Within"))
    for path in (out / "notes.txt", place / ".keep", other.parent / "more.md"):
        path.write_text("mine")
    (folder / "review" / "scripts" / "check.py").unlink()
    (folder / "review" / "scripts").rmdir()
    (folder / "review" / "scripts").write_text("a file now")
    run("import", str(folder))
    run("export", str(out))
    below = {path for path in files_below(out) if not path.startswith("release-notes")}
    assert below == {
        "notes.txt",
        "code-review-checklist/.keep",
        "code-review-checklist/SKILL.md",
        "code-review-checklist/logo.png",
        "code-review-checklist/scripts",
        "code-review-checklist/within/SKILL.md",
        "code-review-checklist/within/more.md",
    }
    shutil.rmtree(other.parent)
    before = list(Version.objects.values())
    run("import", str(out))
    assert list(Version.objects.values()) == before


def test_a_folder_that_is_no_skills_is_not_cleared(folder: Path, owner: User) -> None:
    out = folder / ".out"
    mine = out / "code-review-checklist" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    run("import", str(folder))
    run("export", str(out))
    assert mine.read_text() == "mine"


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
