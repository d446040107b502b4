"""Knowledge units against their published schemas."""

import json
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator
from pytest_django import Settings

from knowledge.errors import InvalidInput
from knowledge.registry import schemas
from knowledge.registry.problems import MOST_COUNTED
from knowledge.registry.unit_format import MAX_UNIT, read_unit
from tests.support.contributions import METADATA, TRACE, UNITS, unit


def problems(given: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as raised:
        read_unit(given)
    assert raised.value.details["field"] == "unit"
    errors: Any = raised.value.details["errors"]
    return {each["path"]: each["message"] for each in errors}


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_reads_as_a_text_with_every_step(name: str) -> None:
    read = read_unit(UNITS[name])
    assert read.type == name
    assert read.document == UNITS[name]
    last = {"ReasoningTrace": "passes in 31 minutes", "ToolCallPattern": "verify_rows"}
    assert last.get(name, "note the case number") in read.text
    assert "\x00" not in read.text


def test_the_type_may_stand_without_its_sign() -> None:
    given = unit(type="ReasoningTrace")
    del given["@type"]
    assert read_unit(given).type == "ReasoningTrace"
    assert problems({**given, "@type": "ExpertSOP"})["type"] == "must be ExpertSOP"


def test_everything_that_is_wrong_is_told_at_once() -> None:
    given = unit(
        metadata={**METADATA, "created_at": "yesterday", "visibility": "all", "success": "yes"},
        task={},
        steps=[{"type": "guess"}, {"type": "tool_call", "tool": {}}, "think"],
        outcome={"confidence": 1.5},
    )
    assert problems(given) == {
        "metadata.created_at": (
            "must be a date and time with its zone, such as 2026-11-16T09:30:00Z"
        ),
        "metadata.visibility": "must be one of: private, org, network",
        "metadata.success": "must be true or false",
        "task.objective": "is required",
        "steps[0].type": "must be one of: thought, tool_call, observation, error_recovery",
        "steps[1].tool.name": "is required",
        "steps[2]": "must be an object",
        "outcome.result_summary": "is required",
        "outcome.confidence": "must be at most 1",
    }


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        *(("ReasoningTrace", each) for each in ("metadata", "task", "steps", "outcome")),
        *(("ToolCallPattern", each) for each in ("name", "description", "trigger_conditions")),
        *(("ToolCallPattern", each) for each in ("tool_sequence", "performance")),
        *(("ExpertSOP", each) for each in ("name", "domain", "source", "decision_tree")),
    ],
)
def test_every_required_field_is_required(name: str, missing: str) -> None:
    given = unit(name)
    del given[missing]
    assert problems(given) == {missing: "is required"}


@pytest.mark.parametrize(
    ("name", "changed", "path"),
    [
        ("ReasoningTrace", {"steps": []}, "steps"),
        ("ReasoningTrace", {"metadata": {**METADATA, "task_domain": " "}}, "metadata.task_domain"),
        ("ReasoningTrace", {"schema_version": "7.0"}, "schema_version"),
        ("ReasoningTrace", {"id": ""}, "id"),
        ("ReasoningTrace", {"id": "kafka-lag "}, "id"),
        ("ReasoningTrace", {"id": "\u00a0kafka-lag"}, "id"),
        ("ReasoningTrace", {"id": "kafka-lag\n"}, "id"),
        ("ReasoningTrace", {"id": "kafka\u200b-lag"}, "id"),
        ("ReasoningTrace", {"@context": 5}, "@context"),
        ("ToolCallPattern", {"tool_sequence": []}, "tool_sequence"),
        ("ToolCallPattern", {"tool_sequence": [{}]}, "tool_sequence[0]"),
        (
            "ToolCallPattern",
            {"trigger_conditions": {"task_types": []}},
            "trigger_conditions.task_types",
        ),
        (
            "ToolCallPattern",
            {"performance": {"avg_ms": -1, "success_rate": 1, "uses": 0}},
            "performance.avg_ms",
        ),
        (
            "ToolCallPattern",
            {"performance": {"avg_ms": 1, "success_rate": 1, "uses": 0.5}},
            "performance.uses",
        ),
        ("ExpertSOP", {"decision_tree": []}, "decision_tree"),
        ("ExpertSOP", {"source": {}}, "source.expert_id"),
    ],
)
def test_every_range_is_kept(name: str, changed: dict[str, Any], path: str) -> None:
    assert list(problems(unit(name, **changed))) == [path]


@pytest.mark.parametrize("given", [{}, {"@type": "Poem"}, {"@type": ["ReasoningTrace"]}])
def test_a_unit_of_no_known_type_is_refused(given: dict[str, Any]) -> None:
    assert list(problems(given)) == ["@type"]


@pytest.mark.parametrize("given", [None, [], "unit", 5])
def test_what_is_no_object_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="unit must be a JSON object"):
        read_unit(given)


@pytest.mark.parametrize("odd", ["a\x00b", "\ud800", float("inf"), float("nan"), 10**400, -(2**63)])
def test_what_no_database_keeps_is_refused_with_its_place(odd: Any) -> None:
    assert "extra.deep[1]" in problems(unit(extra={"deep": [0, odd]}))


@pytest.mark.parametrize("key", ["a\x00b", "\ud800"])
def test_so_are_such_keys(key: str) -> None:
    assert "extra" in problems(unit(extra={key: 1}))


def test_a_unit_is_not_nested_without_end() -> None:
    nested: Any = "x"
    for _ in range(5_000):
        nested = [nested]
    assert "nested more than" in str(problems(unit(extra=nested)))


def test_a_unit_has_its_size() -> None:
    with pytest.raises(InvalidInput, match="at most 500,000 characters"):
        read_unit(unit(extra="x" * MAX_UNIT))


def test_many_problems_are_counted_and_the_first_are_told() -> None:
    with pytest.raises(InvalidInput) as raised:
        read_unit(unit(steps=[{"type": "guess"}] * 500))
    assert raised.value.details["error_count"] == 500
    assert len(json.dumps(raised.value.details)) < 20_000
    assert "the first 100 are in errors" in raised.value.message


def test_a_unit_that_is_wrong_everywhere_is_not_counted_to_its_end() -> None:
    with pytest.raises(InvalidInput) as raised:
        read_unit(unit(steps=[{"type": 0, "content": 0}] * 1_000))
    assert raised.value.details["error_count"] == MOST_COUNTED


def test_of_a_list_that_is_too_long_nothing_else_is_told() -> None:
    told = problems(unit(steps=[0] * 100_000))
    assert told == {"steps": "must have at most 1,000 entries"}


# Published ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", schemas.NAMES)
def test_a_schema_is_published_to_whoever_asks(
    client: Client, settings: Settings, name: str
) -> None:
    settings.QUARRY_PUBLIC_URL = ""
    answer = client.get(f"/api/v1/schemas/{name}")
    assert answer.status_code == 200
    Draft202012Validator.check_schema(answer.json())
    assert answer.json()["$id"] == f"/api/v1/schemas/{name}"
    settings.QUARRY_PUBLIC_URL = "https://kb.example.org"
    published = client.get(f"/api/v1/schemas/{name}").json()
    assert published["$id"] == f"https://kb.example.org/api/v1/schemas/{name}"


@pytest.mark.parametrize("name", UNITS)
def test_a_published_schema_takes_our_own_example_and_refuses_another(
    client: Client, name: str
) -> None:
    validator = Draft202012Validator(client.get(f"/api/v1/schemas/{name}").json())
    assert [error.message for error in validator.iter_errors(UNITS[name])] == []
    others = [UNITS[other] for other in UNITS if other != name]
    assert not any(validator.is_valid(other) for other in others)


def test_an_unknown_schema_is_not_found(client: Client) -> None:
    answer = client.get("/api/v1/schemas/common")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert "ReasoningTrace" in answer.json()["message"]


def test_the_same_unit_in_another_order_is_the_same() -> None:
    turned = dict(reversed(list(TRACE.items())))
    assert read_unit(turned).digest == read_unit(TRACE).digest
    assert read_unit(unit(id="other")).digest != read_unit(TRACE).digest
