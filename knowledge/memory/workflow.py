"""How a task moves from one status to another: the table, and nothing else."""

MOVES: dict[str, tuple[str, ...]] = {
    "backlog": ("todo",),
    "todo": ("doing", "archived"),
    "doing": ("blocked", "review", "done", "todo"),
    "blocked": ("doing", "archived"),
    "review": ("doing", "done", "archived"),
    "done": ("archived",),
    "archived": (),
}

LEADS_TO = {
    "start_task": "doing",
    "block_task": "blocked",
    "unblock_task": "doing",
    "submit_review": "review",
    "complete_task": "done",
    "archive_task": "archived",
}
"""The status that each action is a move to."""

TAKEN_FROM = {"unblock_task": "blocked"}
"""The one status that an action is meant for, where the table alone would allow more."""


def moves_from(status: str) -> tuple[str, ...]:
    """Where a task of this status can go."""
    return MOVES.get(status, ())


def why_not(action: str, status: str, to: str) -> str | None:
    """Why an action cannot move a task of this status there; None if it can."""
    meant_for = TAKEN_FROM.get(action, status)
    if to in moves_from(status) and status == meant_for:
        return None
    legal = moves_from(status)
    said = f"it can go to: {', '.join(legal)}" if legal else "it can go nowhere any more"
    if status == to:
        return f"The task is {status} already; {said}."
    if status != meant_for:
        return f"{action} is for a task that is {meant_for}, and this one is {status}; {said}."
    return f"A task cannot go from {status} to {to}; {said}."
