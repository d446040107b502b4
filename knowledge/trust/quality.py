"""What a contribution scores, factor by factor. The shares of its factors add up to its score."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log10
from typing import Any

from knowledge.trust.substance import FEWEST_WORDS, substance_of, words_of

Json = Mapping[str, Any]

STEP_KINDS = ("thought", "tool_call", "observation", "error_recovery")
FACTORS = {
    "reasoning_trace": ("complexity", "novelty", "diversity", "outcome"),
    "tool_call_pattern": ("completeness", "structure", "evidence", "novelty"),
    "expert_sop": ("completeness", "structure", "evidence", "novelty"),
    "skill": ("completeness", "structure", "evidence", "novelty"),
}
TRACE_PROFILES = {
    "default": (0.25, 0.35, 0.15, 0.25),
    "regulated": (0.20, 0.30, 0.10, 0.40),
    "operations": (0.25, 0.30, 0.25, 0.20),
    "support": (0.20, 0.30, 0.20, 0.30),
}
PROFILE_OF_DOMAIN = {
    **dict.fromkeys(("finance", "law", "legal", "medicine", "medical", "healthcare"), "regulated"),
    **dict.fromkeys(("operations", "automation", "workflow-automation", "devops"), "operations"),
    **dict.fromkeys(("support", "customer-support", "customer-service"), "support"),
}
WEIGHTS = {
    "tool_call_pattern": (0.25, 0.20, 0.25, 0.30),
    "expert_sop": (0.25, 0.25, 0.20, 0.30),
    "skill": (0.25, 0.20, 0.20, 0.35),
}
"""A copy has no novelty: what is left of the weights lies below the default `min_quality`."""

_SUBSTANCE = {
    "reasoning_trace": ("task", "steps", "outcome"),
    "tool_call_pattern": ("description", "tool_sequence"),
    "expert_sop": ("decision_tree",),
    "skill": ("body",),
}
"""The parts that must say something: no name or source makes up for an empty one."""

SKILL_WORDS = 30
FAILED = 0.3
"""What the outcome of a trace that did not succeed counts."""

# None of these begins anew within what it has just passed: on 500,000 letters that would be hours.
_SPECIFIC = re.compile(
    r"`[^`\n]+`|\b\d[\d.,:%]*|(?<![\w-])[\w-]+/[\w./-]+|\b\w+\.\w{2,4}\b|https?://\S+"
)
_HEADING = re.compile(r"^#{1,6}\s+\S", re.MULTILINE)
_LISTED = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])\s+\S", re.MULTILINE)
_BLOCK = re.compile(r"^[ \t]*(?:```|~~~|\|.+\||>\s)", re.MULTILINE)
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Factor:
    """One reason for a score: how far it holds (0 to 1), what that weighs, and why."""

    name: str
    value: float
    weight: float
    because: str

    @property
    def share(self) -> float:
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a contribution scores by itself, before anybody has judged it."""

    profile: str
    factors: tuple[Factor, ...]

    @property
    def intrinsic(self) -> float:
        return min(1.0, max(0.0, fsum(factor.share for factor in self.factors)))


@dataclass(frozen=True, slots=True)
class Measurement:
    """A factor's value, and the counts that it comes from."""

    value: float
    because: str


def assess(type: str, document: Json, novelty: Measurement, *, domain: str = "") -> Assessment:
    """The score of a skill or unit; `document` is the unit, or a skill's fields and its body."""
    profile = PROFILE_OF_DOMAIN.get(domain, "default") if type == "reasoning_trace" else type
    weights = TRACE_PROFILES.get(profile) or WEIGHTS[type]
    measured = {**_MEASURES[type](document), "novelty": novelty}
    factors = [
        Factor(name, measured[name].value, weight, measured[name].because)
        for name, weight in zip(FACTORS[type], weights, strict=True)
    ]
    return Assessment(profile, (*factors, *_substance_penalty(type, document, factors)))


def _substance_penalty(type: str, document: Json, factors: Sequence[Factor]) -> Iterator[Factor]:
    """What a contribution loses that says little or is spam: a share of all it would score."""
    told = {name: document.get(name) or "" for name in _SUBSTANCE[type]}
    text = "\n".join(texts_of(told))
    fewest = SKILL_WORDS if type == "skill" else FEWEST_WORDS
    substance = substance_of(text, fewest_words=fewest)
    if substance.value < 1:
        everything = fsum(factor.share for factor in factors)
        because = f"Little of it counts: {substance.because}."
        yield Factor("substance", substance.value - 1, everything, because)


# Reasoning traces ------------------------------------------------------------------------------


def trace_measures(trace: Json) -> dict[str, Measurement]:
    """Complexity, diversity and outcome of a reasoning trace."""
    steps = [step for step in trace.get("steps", ()) if isinstance(step, Mapping)]
    kinds = {step.get("type") for step in steps} & set(STEP_KINDS)
    recovers = "error_recovery" in kinds
    tools = set().union(*map(tools_of, steps))
    confidence = _number(_inner(trace, "outcome").get("confidence"))
    succeeded = _inner(trace, "metadata").get("success") is not False
    return {
        "complexity": Measurement(
            min(1.0, 0.5 * len(kinds) / 4 + 0.3 * recovers + 0.2 * len(steps) / 20),
            f"{len(kinds)} of 4 kinds of step, {len(steps)} steps, "
            f"{'with' if recovers else 'without'} a recovery from an error.",
        ),
        "diversity": Measurement(
            min(1.0, 3 * len(tools) / len(steps)) if steps else 0.0,
            f"{len(tools)} tools in {len(steps)} steps.",
        ),
        "outcome": Measurement(
            confidence * (1.0 if succeeded else FAILED),
            f"Confidence {confidence:g} that it {'succeeded' if succeeded else 'failed'}.",
        ),
    }


def tools_of(step: Json) -> set[str]:
    """The tools that a step calls: as they are named, or the first word of what was called."""
    several = step.get("tools")
    named = several if isinstance(several, list) else [step.get("tool")]
    names = [tool.get("name") if isinstance(tool, Mapping) else tool for tool in named]
    tools = {name.strip().lower() for name in names if isinstance(name, str) and name.strip()}
    if tools or step.get("type") != "tool_call":
        return tools
    called = _NAME.search(str(step.get("content") or ""))
    return {called[0].lower()} if called else set()


# Patterns of tool calls ------------------------------------------------------------------------


def pattern_measures(pattern: Json) -> dict[str, Measurement]:
    """How complete, structured and proven a pattern of tool calls is."""
    steps = [step for step in pattern.get("tool_sequence", ()) if isinstance(step, Mapping)]
    trigger, performance = _inner(pattern, "trigger_conditions"), _inner(pattern, "performance")
    tools = set().union(*map(tools_of, steps))
    told = _share(steps, lambda step: len(_texts_in(step)) > 1)
    conditions = bool(trigger.keys() - {"task_types"}) or any(
        key in step for step in steps for key in ("condition", "when", "on_error", "fallback")
    )
    rate, uses = _number(performance.get("success_rate")), _count(performance.get("uses"))
    return {
        "completeness": Measurement(
            0.4 * _full(_words(pattern.get("description")), 8)
            + 0.2 * bool(trigger.get("task_types"))
            + 0.25 * told
            + 0.15 * min(1.0, len(performance) / 3),
            f"Described in {_words(pattern.get('description'))} words; "
            f"{told:.0%} of its steps say more than their tool's name.",
        ),
        "structure": Measurement(
            0.5 * _full(len(steps), 3) + 0.3 * _full(len(tools), 2) + 0.2 * conditions,
            f"{len(steps)} steps, {len(tools)} tools, "
            f"{'with' if conditions else 'without'} conditions.",
        ),
        "evidence": Measurement(
            rate * (0.5 + 0.5 * min(1.0, log10(1 + uses) / 1.5)),
            f"It succeeded in {rate:.0%} of {uses:g} uses, as its author says.",
        ),
    }


# Procedures of experts -------------------------------------------------------------------------


def sop_measures(sop: Json) -> dict[str, Measurement]:
    """How complete, structured and detailed an expert's procedure is."""
    nodes = list(_nodes(sop.get("decision_tree", ())))
    told = _share(nodes, lambda node: len(words_of(" ".join(_texts_in(node)))) >= 4)
    branches = sum(_branches(node) for node in nodes)
    vouched = _inner(sop, "source").keys() - {"expert_id"}
    text = "\n".join(texts_of(sop.get("decision_tree", ())))
    words, specifics = len(set(words_of(text))), len(set(_SPECIFIC.findall(text))) + branches
    return {
        "completeness": Measurement(
            0.5 * told + 0.25 * bool(vouched) + 0.25 * bool(branches),
            f"{told:.0%} of its steps say what to do; its source is "
            f"{'described' if vouched else 'only named'}.",
        ),
        "structure": Measurement(
            0.6 * _full(len(nodes), 4) + 0.4 * _full(branches, 2),
            f"{len(nodes)} steps and {branches} conditions.",
        ),
        "evidence": Measurement(
            0.6 * _full(words, 40) + 0.4 * _full(specifics, 3),
            f"{words} distinct words, {specifics} conditions, numbers, names or links.",
        ),
    }


def _nodes(tree: Any) -> Iterator[Json]:
    """Every step of a tree, however its author has nested them."""
    for node in tree if isinstance(tree, Sequence) and not isinstance(tree, str) else ():
        if isinstance(node, Mapping):
            yield node
            for name, inner in node.items():
                if name not in ("tool_suggestions", "tools"):
                    yield from _nodes(inner)


def _branches(node: Json) -> int:
    return sum(
        len(node[key]) if isinstance(node[key], (Mapping, list)) else bool(node[key])
        for key in ("conditions", "criteria", "condition", "branches", "if")
        if key in node
    )


# Skills ----------------------------------------------------------------------------------------


def skill_measures(skill: Json) -> dict[str, Measurement]:
    """How complete, structured and concrete a skill is."""
    body, files = str(skill.get("body") or ""), skill.get("files") or ()
    described, words = _words(skill.get("description")), len(words_of(body))
    told = ("version", "author", "license", "tags", "allowed-tools", "allowed_tools", "domain")
    extras = sum(bool(skill.get(name)) for name in told)
    headings, listed = len(_HEADING.findall(body)), len(_LISTED.findall(body))
    blocks = len(_BLOCK.findall(body)) + len(files)
    specifics = len(set(_SPECIFIC.findall(body))) + len(files)
    return {
        "completeness": Measurement(
            0.45 * _full(described, 10) + 0.45 * _full(words, 80) + 0.1 * _full(extras, 2),
            f"Described in {described} words, explained in {words}, {extras} further fields.",
        ),
        "structure": Measurement(
            0.4 * _full(headings, 2) + 0.4 * _full(listed, 4) + 0.2 * bool(blocks),
            f"{headings} headings, {listed} listed steps, {blocks} examples, tables or files.",
        ),
        "evidence": Measurement(
            0.6 * _full(len(set(words_of(body))), 60) + 0.4 * _full(specifics, 3),
            f"{specifics} names, numbers, paths, links or files that it refers to.",
        ),
    }


_MEASURES = {
    "reasoning_trace": trace_measures,
    "tool_call_pattern": pattern_measures,
    "expert_sop": sop_measures,
    "skill": skill_measures,
}


# What they share -------------------------------------------------------------------------------


def texts_of(value: Any) -> Iterator[str]:
    """Every string that a JSON value holds, but not the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if not str(name).startswith("@") and name not in ("id", "metadata", "type"):
                yield from texts_of(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from texts_of(inner)


def _texts_in(node: Json) -> list[str]:
    return [text for text in texts_of(node) if text.strip()]


def _share(nodes: Sequence[Json], holds: Any) -> float:
    return sum(map(bool, map(holds, nodes))) / len(nodes) if nodes else 0.0


def _full(count: float, enough: float) -> float:
    return min(1.0, count / enough)


def _words(text: Any) -> int:
    return len(words_of(text)) if isinstance(text, str) else 0


def _inner(document: Json, name: str) -> Json:
    inner = document.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _number(value: Any) -> float:
    """From 0 to 1; anything else than a number is nothing."""
    return min(1.0, _count(value))


def _count(value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return max(0.0, float(value)) if is_number else 0.0
