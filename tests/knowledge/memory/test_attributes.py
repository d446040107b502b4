"""What items of each memory type say of themselves."""

from math import inf, nan
from typing import Any

import pytest

from knowledge.errors import InvalidInput
from knowledge.memory.remembering import ENTITY_TYPES
from knowledge.memory.workflow import LEADS_TO, MOVES
from knowledge.models.attributes import (
    MAX_ASSIGNEES,
    MAX_LANGUAGES,
    MAX_METADATA,
    MAX_METADATA_DEPTH,
    PRIORITIES,
    TASK_STATUSES,
    check_attributes,
    check_task_changes,
    merge_attributes,
)

PROJECT = "11111111-1111-4111-8111-111111111111"


def faults(type: str, **given: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refused:
        check_attributes(type, given)
    told: Any = refused.value.details["faults"]
    assert refused.value.details["field"] == told[0]["path"]
    assert refused.value.message == f"{told[0]['path']} {told[0]['message']}."
    return {fault["path"]: fault["message"] for fault in told}


def nested(depth: int) -> dict[str, Any]:
    value: Any = "at the bottom"
    for _ in range(depth):
        value = {"in": value}
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("type", ENTITY_TYPES)
def test_words_are_stored_as_searches_ask_for_them(type: str) -> None:
    needed = {"project": PROJECT} if type == "task" else {}
    stored = check_attributes(
        type, {"languages": ["Python", "python", "  Rust "], "category": " Auth  Flow ", **needed}
    )
    assert stored["languages"] == ["python", "rust"]
    assert stored["category"] == "auth flow"


def test_a_task_is_new_in_the_backlog_and_of_medium_priority() -> None:
    assert check_attributes("task", {"project": PROJECT}) == {
        "project": PROJECT,
        "status": "backlog",
        "priority": "medium",
    }


def test_a_whole_task_is_stored_in_its_plain_form() -> None:
    given = {
        "project": PROJECT.upper(),
        "priority": "critical",
        "assignees": ["Ada", "Bob", "Ada"],
        "due_date": "2026-05-01",
        "metadata": {"estimate": 1.5, "sprint": [1, None, True]},
    }
    stored = check_attributes("task", given)
    assert stored == {**given, "project": PROJECT, "assignees": ["Ada", "Bob"], "status": "backlog"}


@pytest.mark.parametrize("type", ENTITY_TYPES)
def test_what_is_empty_is_not_stored(type: str) -> None:
    given: dict[str, Any] = {"languages": [], "metadata": {}, "category": None}
    needed = {"project": PROJECT} if type == "task" else {}
    assert not given.keys() & check_attributes(type, {**given, **needed}).keys()


def test_every_fault_is_told_with_its_path() -> None:
    told = faults(
        "task",
        languages=["", "ok", 3],
        priority="now",
        assignees="Ada",
        due_date="soon",
        metadata=[],
        unknown=1,
    )
    assert told.keys() == {
        "languages.0",
        "languages.2",
        "metadata",
        "project",
        "priority",
        "assignees",
        "due_date",
        "unknown",
    }
    assert told["project"] == "is required"
    assert told["priority"] == f"must be one of: {', '.join(PRIORITIES)}"
    assert told["assignees"] == "must be a list"
    assert told["metadata"] == "must be an object"
    assert told["due_date"] == "must be an ISO date such as 2026-05-01"
    assert "metadata" in told["unknown"]


@pytest.mark.parametrize("type", [each for each in ENTITY_TYPES if each != "task"])
@pytest.mark.parametrize("name", ["priority", "assignees", "due_date", "status"])
def test_only_a_task_has_what_a_task_has(type: str, name: str) -> None:
    assert name in faults(type, **{name: "low"})


def test_a_project_belongs_to_no_project() -> None:
    assert "project" in faults("project", project=PROJECT)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"category": "x" * 101}, "category"),
        ({"category": "a\x00b"}, "category"),
        ({"category": "a\ud800"}, "category"),
        ({"category": 7}, "category"),
        ({"languages": ["x"] * (MAX_LANGUAGES + 1)}, "languages"),
        ({"languages": "python"}, "languages"),
        ({"project": "not an id"}, "project"),
        ({"project": 7}, "project"),
        ({"metadata": nested(MAX_METADATA_DEPTH + 1)}, "metadata"),
        ({"metadata": {"text": "x" * MAX_METADATA}}, "metadata"),
        ({"metadata": {"number": inf}}, "metadata"),
        ({"metadata": {"numbers": [1, [nan]]}}, "metadata"),
        ({"metadata": {"nul": "\x00"}}, "metadata"),
        ({"metadata": {"nul\x00": 1}}, "metadata"),
        ({"metadata": {"broken": ["\ud800"]}}, "metadata"),
    ],
)
def test_a_wrong_value_is_refused_by_its_path(given: dict[str, Any], path: str) -> None:
    assert list(faults("episode", **given)) == [path]


@pytest.mark.parametrize(
    "given",
    [
        {"metadata": nested(MAX_METADATA_DEPTH)},
        {"metadata": {"text": "x" * (MAX_METADATA - 12)}},
        {"languages": [f"language {n}" for n in range(MAX_LANGUAGES)]},
        {"category": "x" * 100},
    ],
)
def test_the_largest_that_is_taken_is_taken(given: dict[str, Any]) -> None:
    assert check_attributes("episode", given) == given


def test_there_may_be_only_so_many_assignees() -> None:
    told = faults("task", project=PROJECT, assignees=["x"] * (MAX_ASSIGNEES + 1))
    assert told == {"assignees": f"may have at most {MAX_ASSIGNEES} entries"}


def test_changes_are_only_of_what_is_given_and_an_empty_one_takes_away() -> None:
    old = check_attributes("task", {"project": PROJECT, "due_date": "2026-05-01"})
    changes = check_task_changes({"due_date": None, "priority": "low"})
    assert changes == {"due_date": None, "priority": "low"}
    assert merge_attributes(old, changes) == {
        "project": PROJECT,
        "status": "backlog",
        "priority": "low",
    }


def test_the_workflow_knows_every_status_and_leads_nowhere_else() -> None:
    assert set(MOVES) == set(TASK_STATUSES)
    assert {to for moves in MOVES.values() for to in moves} <= set(TASK_STATUSES)
    assert set(LEADS_TO.values()) <= set(TASK_STATUSES)
