"""KnowledgeUnits: JSON-LD documents of three types, and how each reads as a text."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.errors import InvalidInput
from knowledge.registry.problems import Problem, path_to, refuse_any
from knowledge.registry.schemas import UNIT_TYPES, problems_of
from knowledge.validation import storage_faults

MAX_UNIT = 500_000
MAX_DEPTH = 24
MAX_UNIT_TITLE = 300
SCHEMA_VERSION = "1.0"
FIELD = "unit"

_LARGEST = 2**63

Json = Mapping[str, Any]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A knowledge unit that its schema allows."""

    document: dict[str, Any]
    type: str
    title: str
    text: str
    digest: str

    @property
    def unit_id(self) -> str:
        """Its own id; empty where it has none."""
        return str(self.document.get("id", ""))

    @property
    def attributes(self) -> dict[str, Any]:
        """What it says of itself, as far as it does."""
        metadata = self.document["metadata"]
        is_procedure = self.type == "ExpertSOP"
        domain = self.document["domain"] if is_procedure else metadata["task_domain"]
        said = {
            "name": self.title,
            "unit_id": self.unit_id,
            "domain": _line(domain).lower(),
            "schema_version": self.document.get("schema_version", SCHEMA_VERSION),
            "success": metadata["success"],
            "framework": metadata.get("framework", ""),
        }
        return {name: value for name, value in said.items() if value != ""}


def read_unit(unit: object) -> Unit:
    """Read a unit, or refuse it with everything that is wrong."""
    if not isinstance(unit, dict):
        raise InvalidInput("unit must be a JSON object.", field=FIELD)
    values = list(_values(unit))
    written = json.dumps(unit, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if len(written) > MAX_UNIT:
        raise InvalidInput(
            f"unit must have at most {MAX_UNIT:,} characters as JSON; it has {len(written):,}.",
            field=FIELD,
            max_length=MAX_UNIT,
        )
    type_ = _type_of(unit)
    problems = [*problems_of(unit, type_), *_unkeepable(values)]
    refuse_any(problems, field=FIELD, what=f"The {type_}")
    title, sections = _READERS[type_](unit)
    return Unit(
        document=unit,
        type=type_,
        title=_line(title)[:MAX_UNIT_TITLE],
        text="\n\n".join(filter(None, sections)),
        digest=hashlib.sha256(written.encode()).hexdigest(),
    )


def _values(unit: Json) -> Iterator[tuple[Path, Any]]:
    """Every value of the unit and every key, with its path."""
    todo: list[tuple[Path, Any]] = [((), unit)]
    while todo:
        path, value = todo.pop()
        if len(path) > MAX_DEPTH:
            told = Problem(path_to(path[:3]), f"is nested more than {MAX_DEPTH} deep")
            refuse_any([told], field=FIELD, what="The unit")
        if isinstance(value, dict):
            todo += [((*path, key), each) for key, each in value.items()]
            yield from ((path, key) for key in value)
        elif isinstance(value, list):
            todo += [((*path, n), each) for n, each in enumerate(value)]
        else:
            yield path, value


def _unkeepable(values: Sequence[tuple[Path, Any]]) -> Iterator[Problem]:
    """What no schema has to say, and no database could keep."""
    for path, value in values:
        if isinstance(value, str):
            yield from (Problem(path_to(path), why) for why in storage_faults(value))
        elif isinstance(value, (int, float)) and not _is_usual(value):
            yield Problem(path_to(path), "is a number out of the usual range")


def _is_usual(number: int | float) -> bool:
    return math.isfinite(number) if isinstance(number, float) else abs(number) < _LARGEST


def _type_of(unit: Json) -> str:
    given = unit.get("@type", unit.get("type"))
    if given not in UNIT_TYPES:
        wrong = f"must be one of: {', '.join(UNIT_TYPES)}"
        told = Problem("@type", "is required" if given is None else wrong)
        refuse_any([told], field=FIELD, what="The unit")
    return str(given)


# As texts, to be found and read by -------------------------------------------------------------


def _trace(unit: Json) -> tuple[str, list[str]]:
    steps = [f"{step['type']}: {_line_of(step, but=('type', 'step_id'))}" for step in unit["steps"]]
    outcome = unit["outcome"]["result_summary"]
    objective = unit["task"]["objective"]
    return objective, [objective, _numbered_section("Steps", steps), f"## Outcome\n\n{outcome}"]


def _pattern(unit: Json) -> tuple[str, list[str]]:
    triggers = ", ".join(unit["trigger_conditions"]["task_types"])
    calls = [_line_of(call, but=("execution",)) for call in unit["tool_sequence"]]
    sections = [unit["description"], f"For: {triggers}", _numbered_section("Tool sequence", calls)]
    return unit["name"], sections


def _procedure(unit: Json) -> tuple[str, list[str]]:
    decisions = [_line_of(decision) for decision in unit["decision_tree"]]
    title = f"{unit['name']} ({unit['domain']})"
    return unit["name"], [title, _numbered_section("Decisions", decisions)]


_READERS: dict[str, Callable[[Json], tuple[str, list[str]]]] = {
    "ReasoningTrace": _trace,
    "ToolCallPattern": _pattern,
    "ExpertSOP": _procedure,
}


def _numbered_section(heading: str, lines: Sequence[str]) -> str:
    return f"## {heading}\n\n" + "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))


def _line_of(part: Json, but: Sequence[str] = ()) -> str:
    """Every text in a part of a unit, in its order, on one line."""
    return _line(" · ".join(_texts({k: v for k, v in part.items() if k not in but})))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            inner = list(_texts(each))
            # A condition says as much by its name as by what it leads to.
            yield from [f"{key}: {', '.join(inner)}"] if isinstance(each, dict) and inner else inner
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _line(text: str) -> str:
    return " ".join(text.split())
