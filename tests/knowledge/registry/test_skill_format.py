"""SKILL.md as people write it, and as an attacker would."""

from typing import Any

import pytest

from knowledge.errors import InvalidInput
from knowledge.registry.bundles import (
    MAX_BUNDLE_BYTES,
    MAX_FILE_BYTES,
    MAX_FILES,
    as_bytes,
    as_stored,
    read_bundle,
)
from knowledge.registry.skill_format import MAX_SKILL_MD, read_skill, skill_digest
from knowledge.screening import screen
from knowledge.text.file_text import readable
from tests.support.contributions import SKILL_MD

NAMED = "---\nname: x\ndescription: y\n"


def problems(skill_md: str) -> dict[str, str]:
    with pytest.raises(InvalidInput) as raised:
        read_skill(skill_md)
    assert raised.value.details["field"] == "skill_md_content"
    errors: Any = raised.value.details["errors"]
    return {each["path"]: each["message"] for each in errors}


def test_a_skill_is_read_with_all_it_says_of_itself() -> None:
    skill = read_skill(SKILL_MD)
    assert (skill.name, skill.version, skill.author) == ("Code Review Checklist", "1.2", "Ada")
    assert (skill.license, skill.domain) == ("MIT", "software-engineering")
    assert skill.tags == ("code-review", "best-practices")
    assert skill.allowed_tools == ("Read", "Bash(git diff:*)")
    assert skill.text.startswith("Review a pull request for correctness")
    assert "---" not in skill.text
    assert skill.skill_md == SKILL_MD


def test_scalars_are_the_text_that_stands_there() -> None:
    skill = read_skill(NAMED + "version: 1.10\nauthor: no\nlicense: 2026-01-01\n---\n")
    assert (skill.version, skill.author, skill.license) == ("1.10", "no", "2026-01-01")


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("Read Grep", ("Read", "Grep")),
        ("Read, Bash(git add:*, git diff:*)", ("Read", "Bash(git add:*, git diff:*)")),
        ("[Read, Grep, Read]", ("Read", "Grep")),
        ("", ()),
    ],
)
def test_tools_are_a_list_or_words_in_a_row(written: str, tools: tuple[str, ...]) -> None:
    assert read_skill(f"{NAMED}allowed-tools: {written}\n---\n").allowed_tools == tools


def test_other_fields_and_line_ends_and_marks_are_no_offence() -> None:
    skill = read_skill(
        "\ufeff" + (NAMED + "model: any\nkp:\n  extra: 1\n---\nBody").replace("\n", "\r\n")
    )
    assert (skill.name, skill.body) == ("x", "Body")


def test_a_skill_may_have_no_body() -> None:
    assert read_skill(f"{NAMED}---").text == "y"


def test_everything_that_is_wrong_is_told_at_once() -> None:
    told = problems(
        "---\n"
        "description: [a, b]\n"
        f"version: {'1' * 51}\n"
        "tags: {a: b}\n"
        "allowed-tools:\n  - {}\n"
        "kp:\n  visibility: everyone\n  domain: ' '\n"
        "---\n"
    )
    assert told == {
        "name": "is required",
        "description": "must be a string",
        "version": "must have at most 50 characters",
        "tags": "must be a list",
        "allowed-tools[0]": "must be a string",
        "kp.visibility": "must be one of: private, org, network",
        "kp.domain": "must not be blank",
    }


@pytest.mark.parametrize(
    ("skill_md", "told"),
    [
        ("# Only Markdown", "must begin the file"),
        ("---\nname: x\n", "must begin the file"),
        ("text\n---\nname: x\n---\n", "must begin the file"),
        ("---\n- a\n- b\n---\n", "must be fields"),
        ("---\n---\n", "must be fields"),
        ("---\njust words\n---\n", "must be fields"),
        ("---\nname: [\n---\n", "cannot be read"),
        ("---\n\tname: x\n---\n", "cannot be read"),
        ("---\nname: &a x\ndescription: *a\n---\n", "anchors and aliases"),
        ("---\nname: !!python/object/apply:os.system [ls]\n---\n", "tags (!) are not taken"),
        ("---\nname: !!str x\n---\n", "tags (!) are not taken"),
        ("---\nname: " + "[" * 5_000 + "\n---\n", "nested at most"),
        ("---\nname: " + "{a: " * 2_000 + "\n---\n", "nested at most"),
        ("---\nname: x\n...\n%YAML 1.2\n", "must begin the file"),
        ("---\nname: \x1b[0m\n---\n", "cannot be read"),
        ("---\nname: x\nlong: " + "x" * 20_000 + "\n---\n", "at most 20,000 characters"),
    ],
)
def test_frontmatter_that_is_none_is_refused(skill_md: str, told: str) -> None:
    assert told in problems(skill_md)["frontmatter"]


def test_a_bomb_of_aliases_does_not_go_off() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "anchors" in problems("---\n" + "\n".join(lines) + "\n---\n")["frontmatter"]


def test_a_line_says_where_the_yaml_is_broken() -> None:
    assert problems("---\nname: x\nname: [\n---\n")["frontmatter"].endswith("(line 4)")


def test_doubled_and_odd_keys_are_told() -> None:
    assert problems(NAMED + "name: z\n---\n") == {"name": "is there twice (line 4)"}
    for key in ("1", "yes", "null", "2026-01-01", "? [a, b]\n", "<<"):
        told = problems(f"{NAMED}{key}: z\n---\n")
        assert told == {"frontmatter": "must have keys that are text (line 4)"}, key


@pytest.mark.parametrize("hidden", [r'"a\0b"', r'"\ud800"'])
def test_what_no_database_keeps_is_refused_even_when_escaped(hidden: str) -> None:
    assert "name" in problems(f"---\nname: {hidden}\ndescription: y\n---\n")


@pytest.mark.parametrize(
    "skill_md", ["", " ", "x\x00", "\ud800", "---" + "x" * MAX_SKILL_MD, 5, None]
)
def test_what_is_no_text_of_our_size_is_refused(skill_md: Any) -> None:
    with pytest.raises(InvalidInput) as raised:
        read_skill(skill_md)
    assert raised.value.details["field"] == "skill_md_content"


# Bundled files ---------------------------------------------------------------------------------


def refused_files(files: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as raised:
        read_bundle(files)
    assert raised.value.details["field"] == "files"
    errors: Any = raised.value.details["errors"]
    return {each["path"]: each["message"] for each in errors}


def test_files_are_text_or_bytes_and_come_back_the_same() -> None:
    bundle = read_bundle(
        {
            "scripts/check.py": "print('ok')\r\n",
            "logo.png": {"base64": "iVBORw0KGgo="},
            "notes.txt": {"text": "naïve ✓"},
            "zero.bin": {"base64": "AGE="},
        }
    )
    stored = as_stored(bundle)
    assert stored["scripts/check.py"] == {"text": "print('ok')\r\n"}
    assert stored["zero.bin"] == {"base64": "AGE="}
    assert as_bytes(stored) == bundle
    assert read_bundle(None) == read_bundle({}) == {}


@pytest.mark.parametrize(
    "path",
    [
        *("../up.txt", "a/../../b", "/etc/passwd", "a//b", "./a", "a/.", "..", "", "a/"),
        *("C:/x", "a\\b", "a\x00b", "line\nbreak", "con", "aux.txt", "LPT1", "a.", "a ", "a/b. "),
        *("SKILL.md", "skill.MD", "x" * 201, "\ud800"),
    ],
)
def test_a_path_that_could_leave_the_folder_or_mean_another_is_refused(path: str) -> None:
    assert refused_files({path: "x"})


def test_paths_that_are_the_same_somewhere_are_refused() -> None:
    assert "is the same path as" in str(refused_files({"a.txt": "", "A.TXT": ""}))
    assert "is itself a file" in str(refused_files({"a": "", "a/b": ""}))


def test_every_wrong_file_is_told_at_once() -> None:
    told = refused_files(
        {
            "../a": "x",
            "b": 5,
            "c": {"base64": "not base64!"},
            "d": {"text": "x", "base64": "eA=="},
            "e": "x" * (MAX_FILE_BYTES + 1),
        }
    )
    assert told.keys() == {f"files.{name}" for name in ("../a", "b", "c", "d", "e")}


def test_a_bundle_has_its_limits() -> None:
    assert f"at most {MAX_FILES}" in str(refused_files({f"{n}": "" for n in range(101)}))
    large = {f"{n}": "x" * MAX_FILE_BYTES for n in range(MAX_BUNDLE_BYTES // MAX_FILE_BYTES + 1)}
    assert "bytes together" in str(refused_files(large))
    assert refused_files([]) == {"files": "must be an object of paths"}


def test_words_are_read_out_of_any_bytes() -> None:
    words = "a sentence that somebody hid"
    assert readable(words.encode()) == words
    assert words in readable(b"\xff\xfe\x00" + words.encode("utf-16-le") + b"\x80\x81")
    assert screen(readable(bytes(range(128, 256)))).findings == ()


def test_the_digest_is_of_all_that_a_skill_holds() -> None:
    digests = {
        skill_digest("a", {}),
        skill_digest("b", {}),
        skill_digest("a", {"x": b"1"}),
        skill_digest("a", {"x": b"2"}),
        skill_digest("a", {"y": b"1"}),
    }
    assert len(digests) == 5
    assert skill_digest("a", {"x": b"", "y": b""}) == skill_digest("a", {"y": b"", "x": b""})
