"""What contributions score by themselves: the formulas, without a database."""

from math import isclose
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.trust.quality import (
    FACTORS,
    PROFILE_OF_DOMAIN,
    TRACE_PROFILES,
    WEIGHTS,
    Assessment,
    Measurement,
    assess,
)
from knowledge.trust.substance import substance_of
from tests.support.judged_contributions import (
    PATTERN,
    SKILL,
    SOP,
    SPAM,
    TRACE,
    Json,
    pattern_of,
    sop_of,
    trace_of,
)

NEW = Measurement(1.0, "")
USUAL = Measurement(0.55, "")
"""What most texts of a field keep beside each other, measured with the local model."""
COPIED = Measurement(0.1, "")

SKILL_FIELDS: Json = {
    "name": "Postgres lock triage",
    "description": "Find what blocks a Postgres migration and clear it without losing work.",
    "version": "1.2.0",
    "license": "MIT",
    "domain": "databases",
    "tags": ["postgres"],
    "body": SKILL.partition("---\n\n")[2],
}
GOOD = {
    "skill": SKILL_FIELDS,
    "reasoning_trace": TRACE,
    "tool_call_pattern": PATTERN,
    "expert_sop": SOP,
}
THRESHOLD = {"skill": 0.7} | dict.fromkeys(
    ("reasoning_trace", "tool_call_pattern", "expert_sop"), 0.75
)


def value_of(assessment: Assessment, name: str) -> float:
    return next(factor.value for factor in assessment.factors if factor.name == name)


def spam_of(type: str, text: str) -> Json:
    made = {"reasoning_trace": trace_of, "tool_call_pattern": pattern_of, "expert_sop": sop_of}
    return made[type](text) if type in made else {**SKILL_FIELDS, "body": text}


@pytest.mark.parametrize("type", GOOD)
def test_a_well_made_one_clears_the_default_threshold(type: str) -> None:
    for novelty in (NEW, USUAL):
        assert assess(type, GOOD[type], novelty).intrinsic >= THRESHOLD[type]


@pytest.mark.parametrize("type", GOOD)
def test_a_copy_does_not(type: str) -> None:
    assert assess(type, GOOD[type], COPIED).intrinsic < THRESHOLD[type]


@pytest.mark.parametrize("type", GOOD)
@pytest.mark.parametrize("kind", SPAM)
def test_spam_does_not_however_new_it_is(type: str, kind: str) -> None:
    assert assess(type, spam_of(type, SPAM[kind]), NEW).intrinsic < THRESHOLD[type] - 0.05


def test_a_trace_scores_by_the_published_formula() -> None:
    assessment = assess("reasoning_trace", TRACE, Measurement(0.8, ""))
    assert value_of(assessment, "complexity") == pytest.approx(0.5 + 0.3 + 0.2 * 8 / 20)
    assert value_of(assessment, "diversity") == pytest.approx(3 * 2 / 8)
    assert value_of(assessment, "outcome") == pytest.approx(0.9)
    expected = 0.25 * 0.88 + 0.35 * 0.8 + 0.15 * 0.75 + 0.25 * 0.9
    assert assessment.intrinsic == pytest.approx(expected)
    assert [factor.name for factor in assessment.factors] == list(FACTORS["reasoning_trace"])


def test_a_failed_trace_keeps_three_tenths_of_its_outcome() -> None:
    failed = {**TRACE, "metadata": {**TRACE["metadata"], "success": False}}
    assert value_of(assess("reasoning_trace", failed, NEW), "outcome") == pytest.approx(0.27)


def test_a_short_honest_trace_of_something_new_clears_the_threshold() -> None:
    steps = [TRACE["steps"][0], TRACE["steps"][1], TRACE["steps"][2]]
    assert assess("reasoning_trace", {**TRACE, "steps": steps}, NEW).intrinsic >= 0.75


@pytest.mark.parametrize(
    ("step", "tools"),
    [
        ({"type": "tool_call", "tool": {"name": "Grep"}}, 1),
        ({"type": "tool_call", "content": "rename(folder=12)"}, 1),
        ({"type": "thought", "content": "rename it"}, 0),
        ({"tools": [{"name": "a"}, {"name": "b"}]}, 2),
    ],
)
def test_tools_are_counted_however_a_step_names_them(step: Json, tools: int) -> None:
    trace = {**TRACE, "steps": [step] * 6}
    diversity = value_of(assess("reasoning_trace", trace, NEW), "diversity")
    assert diversity == pytest.approx(min(1, 3 * tools / 6))


def test_every_profile_weighs_one_in_all_and_leaves_no_room_for_copies() -> None:
    for name, weights in {**TRACE_PROFILES, **WEIGHTS}.items():
        assert isclose(sum(weights), 1)
        novelty = dict(zip(FACTORS.get(name, FACTORS["reasoning_trace"]), weights, strict=True))
        assert 1 - novelty["novelty"] < THRESHOLD.get(name, 0.75) + 1e-9
    assert set(PROFILE_OF_DOMAIN.values()) < set(TRACE_PROFILES)


def test_a_domain_may_have_a_profile_of_its_own() -> None:
    assessment = assess("reasoning_trace", TRACE, NEW, domain="finance")
    assert assessment.profile == "regulated"
    assert [factor.weight for factor in assessment.factors] == list(TRACE_PROFILES["regulated"])


words = st.text(max_size=200)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 50) | st.floats(-1, 2) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
steps = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["thought", "tool_call", "observation", "error_recovery", "x"])},
        optional={"content": words, "tool": json_values, "tools": json_values},
    ),
    max_size=30,
)
documents: dict[str, Any] = {
    "reasoning_trace": st.fixed_dictionaries(
        {"steps": steps, "outcome": json_values, "metadata": json_values}
    ),
    "tool_call_pattern": st.fixed_dictionaries(
        {
            "description": words,
            "tool_sequence": steps,
            "performance": st.fixed_dictionaries(
                {"success_rate": st.floats(0, 1), "uses": st.integers(0, 10**6)}
            ),
            "trigger_conditions": json_values,
        }
    ),
    "expert_sop": st.fixed_dictionaries(
        {"decision_tree": st.lists(json_values, max_size=5), "source": json_values}
    ),
    "skill": st.fixed_dictionaries({"body": words, "description": words}),
}


@given(st.data())
def test_the_breakdown_always_adds_up_to_a_score_between_0_and_1(data: st.DataObject) -> None:
    type = data.draw(st.sampled_from(sorted(documents)))
    novelty = Measurement(data.draw(st.floats(0, 1)), "")
    assessment = assess(type, data.draw(documents[type]), novelty)
    shares = [factor.value * factor.weight for factor in assessment.factors]
    assert 0 <= assessment.intrinsic <= 1
    assert assessment.intrinsic == pytest.approx(sum(shares), abs=1e-9)
    assert all(factor.share == factor.value * factor.weight for factor in assessment.factors)
    assert all(0 <= factor.value <= 1 for factor in assessment.factors[:4])


@pytest.mark.parametrize(
    "text",
    [
        SKILL,
        "数据库迁移卡住时，先查看谁持有锁，再决定等待还是取消会话，最后设置超时重新执行迁移脚本。",
        "कल की बैठक में बजट पर चर्चा हुई और तय हुआ कि अगले महीने नई मशीनें खरीदी जाएँगी।",
        "- Open the valve\n- Wait for two bar\n- Close it again\n- Note the time and the gauge\n"
        "- Tell the shift lead what was seen, by name",
        "| Code | Meaning |\n|---|---|\n| 401 | no token was sent |\n| 403 | the token may not |\n"
        "| 404 | there is nothing here |\n| 429 | called too often, wait a while |",
    ],
    ids=["skill", "Chinese", "Hindi", "list", "table"],
)
def test_honest_texts_of_any_kind_count_in_full(text: str) -> None:
    assert substance_of(text).value == 1.0


@pytest.mark.parametrize("kind", SPAM)
def test_spam_is_named_for_what_it_is(kind: str) -> None:
    substance = substance_of(SPAM[kind])
    assert substance.value < 0.8
    assert substance.because


@pytest.mark.parametrize("piece", ["a", "a-", "\n", " \n", "`a", "1.", "# \n", "a/"])
def test_no_text_is_long_to_measure(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    begun = process_time()
    assess("skill", {"body": text}, Measurement(1.0, ""))
    assert process_time() - begun < 20
