"""The published JSON Schemas, and what they find wrong, in sentences."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from knowledge.registry.problems import MOST_COUNTED, Problem, path_to

NAMES = ("ReasoningTrace", "ToolCallPattern", "ExpertSOP", "SkillFrontmatter")
UNIT_TYPES = NAMES[:3]

_FOLDER = Path(__file__).parent / "schemas"
_KINDS = {
    "string": "a string",
    "object": "an object",
    "array": "a list",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
}
_formats = FormatChecker(formats=())


@cache
def schema_named(name: str) -> Mapping[str, Any]:
    """One published schema, whole: it refers to nothing outside itself."""
    schema: dict[str, Any] = _load_schema(name)
    if name in UNIT_TYPES:
        schema["$defs"] = _load_schema("common")["$defs"] | schema["$defs"]
    return schema


def problems_of(document: object, name: str) -> list[Problem]:
    """What a document has that its schema does not allow, as far as anybody counts it.

    Of a list that is too long nothing else is told: each entry costs 20 µs to look at.
    """
    if too_long := list(_too_long_lists(document, schema_named(name))):
        return too_long
    errors = _validator(name).iter_errors(document)
    return [_problem_of(error) for error in islice(errors, MOST_COUNTED)]


def _too_long_lists(document: object, schema: Mapping[str, Any]) -> Iterator[Problem]:
    given = document if isinstance(document, dict) else {}
    for field, rule in schema["properties"].items():
        most, value = rule.get("maxItems"), given.get(field)
        if most and isinstance(value, list) and len(value) > most:
            yield Problem(field, _RULES["maxItems"](most))


@_formats.checks("date-time", raises=ValueError)  # type: ignore[untyped-decorator]
def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return "T" in value.upper() and datetime.fromisoformat(value).tzinfo is not None


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema_named(name), format_checker=_formats)


def _load_schema(name: str) -> Any:
    return json.loads((_FOLDER / f"{name}.json").read_text())


def _problem_of(error: ValidationError) -> Problem:
    steps = list(error.absolute_path)
    if error.validator == "required":
        missing = next(name for name in error.validator_value if _is_missing(name, error))
        return Problem(path_to([*steps, missing]), "is required")
    if error.validator == "anyOf":
        return Problem(path_to([*steps, "@type"]), "is required")
    say = _RULES.get(str(error.validator))
    return Problem(path_to(steps), say(error.validator_value) if say else "is not allowed here")


def _is_missing(name: str, error: ValidationError) -> bool:
    """The validator makes one error for each name, and says which only in its own sentence."""
    return name not in error.instance and error.message.startswith(repr(name))


def _a_kind(kinds: str | list[str]) -> str:
    names = [kinds] if isinstance(kinds, str) else kinds
    return "must be " + " or ".join(_KINDS[name] for name in names)


_RULES: dict[str, Callable[[Any], str]] = {
    "type": _a_kind,
    "enum": lambda allowed: f"must be one of: {', '.join(allowed)}",
    "const": lambda value: f"must be {value}",
    "format": lambda _: "must be a date and time with its zone, such as 2026-11-16T09:30:00Z",
    "maxLength": lambda most: f"must have at most {most:,} characters",
    "minItems": lambda fewest: f"must have at least {fewest:,} entries",
    "maxItems": lambda most: f"must have at most {most:,} entries",
    "pattern": lambda pattern: (
        "must not be blank"
        if pattern == r"\S"
        else "must not be blank, begin or end with a blank, or hold invisible signs"
    ),
    "minProperties": lambda _: "must not be empty",
    "minimum": lambda low: f"must be at least {low}",
    "maximum": lambda high: f"must be at most {high}",
}
