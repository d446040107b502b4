"""How far each agent is trusted, from the log of judgments: kept up with every one that comes in,
and worked out exactly by a job.

Reputation is public, so only judgments of what everybody may read, or could when it was judged,
make it.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import CharField, Count, F, Func, Q, QuerySet, Value
from django.utils import timezone

from knowledge.locks import Lock
from knowledge.models import REGISTRY_TYPES, Agent, Item, Validation, Visibility
from knowledge.trust.eigentrust import (
    PASSED_ON,
    Edge,
    Standing,
    propagate_trust,
    score_of,
    shares_of,
    standing_of,
    unit_of,
)

_PRECISION = 5e-3
"""What is left out of an incremental count, in judgments of a trusted agent."""


def recompute() -> Standing:
    """Work every agent's reputation out anew from the log."""
    with transaction.atomic():
        _lock_reputation()
        begins_with = from_the_start(_public_agents())
        edges = _edges()
        standing = standing_of(edges, begins_with)
        _save_agents(standing, begins_with, edges)
    return standing


@contextmanager
def recount_judgments(judge: str, judged: str) -> Iterator[None]:
    """Count what the block changes about a judge's judgments, in the caller's transaction."""
    _lock_reputation()
    before = _balances_by_judge([judge]).get(judge, {})
    yield
    after = _balances_by_judge([judge]).get(judge, {})
    _propagate(judge, judged, before, after)


def from_the_start(agent_ids: Collection[str]) -> set[str]:
    """Whom trust begins with: the operator's choice, else the agents of the server's owner."""
    if chosen := set(Agent.objects.filter(is_trusted=True).values_list("agent_id", flat=True)):
        return chosen
    owners = get_user_model()._default_manager.filter(is_superuser=True, is_active=True)
    name = owners.order_by("date_joined", "pk").values_list("username", flat=True).first()
    if name is None:
        return set()
    return {each for each in agent_ids if each == name or each.startswith(f"{name}/")}


def owners_with_standing(names: Collection[str]) -> set[str]:
    """Those of the owners of whom an agent has reputation, or trust begins with one."""
    agents = Agent.objects.filter(Q(score__gt=0) | Q(is_trusted=True))
    parts = (F("agent_id"), Value("/"), Value(1))
    of_owner = Func(*parts, function="split_part", output_field=CharField())
    known = agents.annotate(owner_name=of_owner).filter(owner_name__in=names)
    # The server's owner has standing before any of its agents has been active.
    chosen = {owner_of(each) for each in from_the_start(names)}
    return {*known.values_list("owner_name", flat=True), *chosen.intersection(names)}


def owner_of(agent_id: str) -> str:
    """The name of an agent's owner, which its id begins with."""
    return agent_id.partition("/")[0]


def trust(agent_ids: Collection[str]) -> None:
    """Have trust begin with these, as the operator wants; it counts from the next exact count."""
    for agent_id in agent_ids:
        Agent.objects.update_or_create(agent_id=agent_id, defaults={"is_trusted": True})


def end_initial_trust(agent_ids: Collection[str]) -> None:
    """Have trust begin with these no longer."""
    Agent.objects.filter(agent_id__in=agent_ids).update(is_trusted=False)


def judgments_by(agent_ids: Collection[str]) -> dict[str, dict[str, float]]:
    """For each of these, whom it found good and by how many judgments more than bad."""
    return _balances_by_judge(agent_ids)


def public() -> QuerySet[Validation]:
    """The judgments that count for reputation: current ones, of items that everybody may read.

    Items that were public when they were judged count too, so hiding a work changes nothing.
    """
    is_public = Q(was_public=True) | Q(item__visibility=Visibility.NETWORK)
    return Validation.objects.filter(is_public, is_current=True)


def contributions_of(agent_ids: Collection[str] | None = None) -> dict[str, int]:
    """How many skills and units of each agent everybody may read."""
    items = Item.objects.filter(
        type__in=REGISTRY_TYPES,
        visibility=Visibility.NETWORK,
        archived=False,
        quarantined=False,
    )
    if agent_ids is not None:
        items = items.filter(added_by_agent__in=agent_ids)
    counts = items.exclude(added_by_agent="").values_list("added_by_agent")
    return dict(counts.annotate(count=Count("pk")).order_by())


def note_contribution(agent_id: str) -> None:
    """Have an agent's page say how much it has contributed, before anybody has judged it."""
    if not agent_id:
        return
    count = contributions_of([agent_id]).get(agent_id, 0)
    agent = Agent.objects.filter(agent_id=agent_id).first()
    if agent is None and count:
        with recount_judgments(agent_id, agent_id):
            pass
    Agent.objects.filter(agent_id=agent_id).update(contributions=count)


# The exact count ------------------------------------------------------------------------------


def _edges() -> list[Edge]:
    rows = _balances(public())
    return [(row["agent_id"], row["contributor"], row["balance"]) for row in rows]


def _balances(validations: QuerySet[Validation]) -> list[dict[str, Any]]:
    counts = validations.values("agent_id", "contributor").annotate(
        balance=Count("pk", Q(valid=True)) - Count("pk", Q(valid=False))
    )
    return list(counts.filter(balance__gt=0).order_by("agent_id", "contributor"))


def _public_agents(among: Collection[str] | None = None) -> set[str]:
    judges, judged = public(), public()
    if among is not None:
        judges, judged = judges.filter(agent_id__in=among), judged.filter(contributor__in=among)
    return {
        *judges.values_list("agent_id", flat=True),
        *judged.values_list("contributor", flat=True),
        *contributions_of(among),
    }


def _save_agents(standing: Standing, begins_with: Collection[str], edges: Iterable[Edge]) -> None:
    unit, now = unit_of(standing.most_given), timezone.now()
    contributions, received, given = contributions_of(), _counts_of_received(), _totals(edges)
    Agent.objects.exclude(agent_id__in=standing.trust).update(
        score=0.0, trust=0.0, contributions=0, parts={}, computed_at=now
    )
    everyone = {*standing.trust, *contributions, *received}
    Agent.objects.bulk_create(
        [
            Agent(
                agent_id=name,
                trust=standing.trust.get(name, 0.0),
                score=score_of(
                    standing.trust.get(name, 0.0), unit, from_the_start=name in begins_with
                ),
                contributions=contributions.get(name, 0),
                parts=_parts(name in begins_with, given.get(name, 0), received.get(name)),
                computed_at=now,
            )
            for name in sorted(everyone)
        ],
        batch_size=5_000,
        update_conflicts=True,
        unique_fields=["agent_id"],
        update_fields=["trust", "score", "contributions", "parts", "computed_at"],
    )


def _parts(starts: bool, given: float, received: dict[str, int] | None) -> dict[str, Any]:
    return {
        "from_the_start": starts,
        "given": given,
        "received": received or {"valid": 0, "not_valid": 0},
    }


def _counts_of_received(agent_ids: Collection[str] | None = None) -> dict[str, dict[str, int]]:
    validations = public()
    if agent_ids is not None:
        validations = validations.filter(contributor__in=agent_ids)
    counts = validations.values("contributor").annotate(
        valid_count=Count("pk", Q(valid=True)), not_valid=Count("pk", Q(valid=False))
    )
    return {
        row["contributor"]: {"valid": row["valid_count"], "not_valid": row["not_valid"]}
        for row in counts.order_by()
    }


def _totals(edges: Iterable[Edge]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for judge, _, weight in edges:
        totals[judge] = totals.get(judge, 0.0) + weight
    return totals


# One judgment more ----------------------------------------------------------------------------


def _propagate(judge: str, judged: str, before: dict[str, float], after: dict[str, float]) -> None:
    agents = {each.agent_id: each for each in Agent.objects.filter(agent_id__in=[judge, judged])}
    starts = from_the_start(_public_agents([judge, judged]))
    due: dict[str, float] = {}
    for name in {judge, judged}:
        agent = agents.setdefault(name, Agent(agent_id=name))
        due[name] = float(name in starts) - float(bool(agent.parts.get("from_the_start")))
    trust = agents[judge].trust
    was, now = shares_of(before), shares_of(after)
    for name in was.keys() | now.keys():
        change = PASSED_ON * trust * (now.get(name, 0.0) - was.get(name, 0.0))
        due[name] = due.get(name, 0.0) + change
    old_unit = _unit({}, starts)
    unit = _unit({judge: sum(after.values())}, starts)
    changed = propagate_trust(due, _Rows(), least=_PRECISION * unit)
    _add(changed, judge, judged, given=sum(after.values()), starts=starts, unit=unit)
    if unit != old_unit:
        _rescale(unit)


def _balances_by_judge(agent_ids: Collection[str]) -> dict[str, dict[str, float]]:
    given: dict[str, dict[str, float]] = {}
    for row in _balances(public().filter(agent_id__in=list(agent_ids))):
        given.setdefault(row["agent_id"], {})[row["contributor"]] = float(row["balance"])
    return given


class _Rows:
    """What agents have given, each read once: a ripple comes by the same ones many times."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, float]] = {}

    def __call__(self, agent_ids: Collection[str]) -> dict[str, dict[str, float]]:
        if missing := [name for name in agent_ids if name not in self.known]:
            self.known |= {name: {} for name in missing} | _balances_by_judge(missing)
        return self.known


def _unit(newly_given: dict[str, float], starts: Collection[str]) -> float:
    """By what those have given that trust begins with, and what one of them gives now."""
    rows = Agent.objects.filter(parts__from_the_start=True).values_list("agent_id", "parts__given")
    given = {name: float(count or 0) for name, count in rows}
    given |= {name: count for name, count in newly_given.items() if name in starts}
    return unit_of(max(given.values(), default=0.0))


def _add(
    changed: dict[str, float],
    judge: str,
    judged: str,
    *,
    given: float,
    starts: Collection[str],
    unit: float,
) -> None:
    names = {*changed, judge, judged}
    agents = {each.agent_id: each for each in Agent.objects.filter(agent_id__in=names)}
    received = _counts_of_received([judge, judged])
    for name in names:
        agent = agents.setdefault(name, Agent(agent_id=name))
        agent.trust = max(0.0, agent.trust + changed.get(name, 0.0))
        if name in (judge, judged):
            count = given if name == judge else agent.parts.get("given", 0)
            agent.parts = _parts(name in starts, count, received.get(name))
        begun = bool(agent.parts.get("from_the_start"))
        agent.score = score_of(agent.trust, unit, from_the_start=begun)
        agent.computed_at = timezone.now()
    Agent.objects.bulk_create(
        [agents[name] for name in sorted(agents)],
        update_conflicts=True,
        unique_fields=["agent_id"],
        update_fields=["trust", "score", "parts", "computed_at"],
    )


def _rescale(unit: float) -> None:
    """Everybody's score, as a trusted judgment weighs otherwise now."""
    agents = list(Agent.objects.filter(trust__gt=0))
    for agent in agents:
        begun = bool(agent.parts.get("from_the_start"))
        agent.score = score_of(agent.trust, unit, from_the_start=begun)
    Agent.objects.bulk_update(agents, ["score"], batch_size=1_000)


def _lock_reputation() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [Lock.REPUTATION])
