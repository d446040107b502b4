"""The facets of a context: what is sought for each, and how an intent weighs them."""

from collections.abc import Mapping
from enum import StrEnum

from knowledge.models import ItemType
from knowledge.retrieval.scope import Narrowing


class Facet(StrEnum):
    """What an item can be good for, the most telling first: it stands in the first that fits."""

    DECISIONS = "decisions"
    GOTCHAS = "gotchas"
    CONSTRAINTS = "constraints"
    PROCEDURES = "procedures"
    ACTIVE_WORK = "active_work"
    PRIOR_ART = "prior_art"
    RECENT_MEMORY = "recent_memory"

    @property
    def heading(self) -> str:
        return self.value.replace("_", " ").capitalize()


FACETS = tuple(str(facet) for facet in Facet)

DECISION_LABELS = ("decision", "decisions", "adr")
GOTCHA_LABELS = ("gotcha", "gotchas", "bug", "debug", "debugging", "pitfall")
OPEN_STATUSES = ("doing", "review", "blocked", "todo")

_LEARNED = (
    *(ItemType.EPISODE, ItemType.PATTERN, ItemType.RULE, ItemType.TEMPLATE, ItemType.TOPIC),
    ItemType.DOCUMENT,
)
SOUGHT = {
    Facet.DECISIONS: Narrowing(types=_LEARNED, labels=DECISION_LABELS),
    Facet.GOTCHAS: Narrowing(types=_LEARNED, labels=GOTCHA_LABELS),
    Facet.CONSTRAINTS: Narrowing(types=(ItemType.RULE,)),
    Facet.PROCEDURES: Narrowing(
        types=(
            *(ItemType.PATTERN, ItemType.TEMPLATE, ItemType.SKILL),
            *(ItemType.TOOL_CALL_PATTERN, ItemType.EXPERT_SOP),
        )
    ),
    Facet.ACTIVE_WORK: Narrowing(types=(ItemType.TASK,), statuses=OPEN_STATUSES),
    Facet.PRIOR_ART: Narrowing(
        types=(
            *(ItemType.DOCUMENT, ItemType.EPISODE, ItemType.TOPIC),
            *(ItemType.PATTERN, ItemType.REASONING_TRACE),
        )
    ),
}
"""What the search is asked for; recent memory is listed, not searched."""


def _facet_weights(**weights: int) -> Mapping[Facet, int]:
    return {Facet(name): weight for name, weight in weights.items()}


# The first facet of an intent comes first; of 24 places, each gets about as many as it weighs.
INTENTS: dict[str, Mapping[Facet, int]] = {
    "build": _facet_weights(
        active_work=4,
        constraints=5,
        procedures=5,
        gotchas=4,
        decisions=3,
        prior_art=2,
        recent_memory=1,
    ),
    "plan": _facet_weights(
        active_work=6,
        decisions=5,
        constraints=4,
        prior_art=4,
        gotchas=2,
        procedures=2,
        recent_memory=1,
    ),
    "research": _facet_weights(
        prior_art=10,
        decisions=4,
        recent_memory=3,
        gotchas=2,
        procedures=2,
        constraints=2,
        active_work=1,
    ),
    "debug": _facet_weights(
        gotchas=8,
        prior_art=5,
        recent_memory=4,
        active_work=2,
        procedures=2,
        constraints=2,
        decisions=1,
    ),
    "decide": _facet_weights(
        decisions=8,
        constraints=5,
        prior_art=5,
        gotchas=3,
        active_work=1,
        recent_memory=1,
        procedures=1,
    ),
    "learn": _facet_weights(
        prior_art=8,
        procedures=6,
        gotchas=3,
        constraints=3,
        decisions=2,
        recent_memory=1,
        active_work=1,
    ),
    "review": _facet_weights(
        constraints=7,
        decisions=5,
        gotchas=4,
        active_work=3,
        procedures=3,
        prior_art=1,
        recent_memory=1,
    ),
    "general": _facet_weights(
        active_work=4,
        constraints=4,
        decisions=4,
        gotchas=3,
        procedures=3,
        prior_art=4,
        recent_memory=2,
    ),
}
