"""In which order tasks can be done, and which of them now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from knowledge.memory.graph import circles, in_order

FINISHED = frozenset({"done", "archived"})
MAX_CYCLES = 20


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one item is. What is no task is there already, so nothing waits for it."""

    is_task: bool
    status: str | None
    is_archived: bool

    @property
    def is_open(self) -> bool:
        return self.is_task and not self.is_archived and self.status not in FINISHED


@dataclass(frozen=True, slots=True)
class TaskState:
    """What a task leans on, what of that is still open, and whether it can be taken up."""

    ready: bool
    blocked: bool
    depends_on: list[UUID]
    waits_for: list[UUID]


@dataclass(frozen=True, slots=True)
class Plan:
    """What must be done first comes first; cycles are where that cannot be."""

    order: list[UUID]
    states: dict[UUID, TaskState]
    cycles: list[list[UUID]]


def plan_of(standings: Mapping[UUID, Standing], needs: Mapping[UUID, Sequence[UUID]]) -> Plan:
    """The plan of these items, given oldest first; dependencies outside of them are ignored."""
    ages = {each: age for age, each in enumerate(standings)}
    known = {
        each: sorted((need for need in needs.get(each, ()) if need in ages), key=ages.__getitem__)
        for each in standings
    }
    return Plan(
        order=in_order(list(standings), known),
        states={
            each: _state(standings, each, known[each])
            for each, standing in standings.items()
            if standing.is_task
        },
        cycles=circles(list(standings), known, most=MAX_CYCLES),
    )


def _state(standings: Mapping[UUID, Standing], task: UUID, needs: list[UUID]) -> TaskState:
    standing = standings[task]
    waits_for = [need for need in needs if standings[need].is_open]
    blocked = standing.is_open and bool(waits_for or standing.status == "blocked")
    return TaskState(standing.is_open and not blocked, blocked, needs, waits_for)
