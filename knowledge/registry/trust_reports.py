"""How far agents are trusted, with the reasons, and who is trusted most."""

from dataclasses import dataclass

from django.db.models import Count, Q

from knowledge.access import Access, Capability
from knowledge.models import Agent, Item
from knowledge.trust import reputation
from knowledge.trust.eigentrust import PASSED_ON, shares_of
from knowledge.validation import clean_line, within

MAX_AGENT_ID = 200
MAX_PAGE = 1_000_000
MAX_PER_PAGE = 100
MOST_VOICES = 20
"""The number of judges that are named for an agent: those that brought most trust."""


@dataclass(frozen=True, slots=True)
class Voice:
    """An agent that judged another's work, and the trust that this brought."""

    agent_id: str
    reputation_score: float
    valid: int
    not_valid: int
    brings: float


@dataclass(frozen=True, slots=True)
class Reputation:
    """How far an agent is trusted and why, and what it contributed that the caller may read."""

    agent_id: str
    score: float
    trust: float
    from_the_start: bool
    valid: int
    not_valid: int
    judged_by: list[Voice]
    contributions: int
    contributions_by_type: dict[str, int]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """One page of the agents that contribute, best reputation first."""

    agents: list[Agent]
    total: int
    page: int
    per_page: int


def reputation_of(access: Access, agent_id: str) -> Reputation:
    """An agent's reputation; one that nobody here knows has none."""
    access.require(Capability.READ)
    agent_id = clean_line(agent_id, field="agent_id", longest=MAX_AGENT_ID)
    agent = Agent.objects.filter(agent_id=agent_id).first() or Agent(agent_id=agent_id)
    by_type = _contributions(access, agent_id)
    received = agent.parts.get("received", {})
    return Reputation(
        agent_id=agent_id,
        score=agent.score,
        contributions=sum(by_type.values()),
        contributions_by_type=by_type,
        from_the_start=bool(agent.parts.get("from_the_start")),
        trust=agent.trust,
        valid=received.get("valid", 0),
        not_valid=received.get("not_valid", 0),
        judged_by=_voices(agent_id),
    )


def leaderboard(access: Access, *, page: int = 1, per_page: int = 20) -> Leaderboard:
    """The agents whose work everybody may read, best reputation first."""
    access.require(Capability.READ)
    within(page, field="page", low=1, high=MAX_PAGE)
    within(per_page, field="per_page", low=1, high=MAX_PER_PAGE)
    agents = Agent.objects.filter(contributions__gt=0)
    ranked = agents.order_by("-score", "-contributions", "agent_id")
    start = (page - 1) * per_page
    return Leaderboard(list(ranked[start : start + per_page]), agents.count(), page, per_page)


def _contributions(access: Access, agent_id: str) -> dict[str, int]:
    items = Item.objects.published_to(access).filter(added_by_agent=agent_id)
    return dict(items.values_list("type").annotate(count=Count("pk")).order_by("type"))


def _voices(agent_id: str) -> list[Voice]:
    counts = reputation.public().filter(contributor=agent_id).values("agent_id")
    rows = counts.annotate(good=Count("pk", Q(valid=True)), bad=Count("pk", Q(valid=False)))
    agents = Agent.objects.in_bulk([row["agent_id"] for row in rows])
    given = reputation.judgments_by(list(agents))
    voices = []
    for row in rows.order_by("agent_id"):
        judge = agents.get(row["agent_id"]) or Agent(agent_id=row["agent_id"])
        share = shares_of(given.get(judge.agent_id, {})).get(agent_id, 0.0)
        brings = PASSED_ON * judge.trust * share
        voices.append(Voice(judge.agent_id, judge.score, row["good"], row["bad"], brings))
    return sorted(voices, key=lambda voice: (-voice.brings, voice.agent_id))[:MOST_VOICES]
