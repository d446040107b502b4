"""Calls per hour, per token and ask: one bucket, whichever edge the call came through."""

from dataclasses import dataclass
from types import SimpleNamespace

from django_ratelimit.core import get_usage

from knowledge.errors import RateLimited
from tokens.models import Token

PER_HOUR = {
    "search": 1000,
    "get_item": 1000,
    "list_recent": 1000,
    "list_items": 1000,
    "add": 60,
    "update_item": 60,
    "delete_item": 30,
    "file_item": 60,
    "list_folders": 1000,
    "create_folder": 60,
    "update_folder": 60,
    "delete_folder": 30,
    "begin_upload": 30,
    "finish_upload": 30,
    "retry": 60,
    "transform": 60,
    "webhooks": 60,
    "export": 10,
    "import": 10,
    "whoami": 1000,
    "activity": 1000,
    "usage": 1000,
    "explore": 1000,
    "context": 1000,
    "remember": 300,
    "manage_task": 300,
    "relate": 300,
    "sources": 1000,
    "crawl": 30,
    "registry": 1000,
    "contribute": 60,
    "validate": 300,
    "reputation": 1000,
    "providers": 1000,
    "register_provider": 60,
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much of an hour's calls is left."""

    limit: int
    remaining: int
    reset_sec: int


def spend(token: Token, ask: str) -> Allowance:
    """Count one call; the first one over the limit, and every one after it, is refused."""
    usage = _usage(token, ask, increment=True)
    allowance = _allowance(usage)
    if usage["should_limit"]:
        raise RateLimited(
            f"This token has used its {allowance.limit:,} calls an hour of this kind; "
            f"try again in {allowance.reset_sec} seconds.",
            retry_after_sec=allowance.reset_sec,
            limit=allowance.limit,
        )
    return allowance


def remaining(token: Token, ask: str) -> Allowance:
    """What is left, without counting a call."""
    return _allowance(_usage(token, ask, increment=False))


def _usage(token: Token, ask: str, *, increment: bool) -> dict[str, int]:
    stand_in = SimpleNamespace(method="POST", META={})
    usage: dict[str, int] = get_usage(
        stand_in,
        group=f"token:{ask}",
        key=lambda group, request: str(token.pk),
        rate=f"{PER_HOUR[ask]}/h",
        increment=increment,
    )
    return usage


def _allowance(usage: dict[str, int]) -> Allowance:
    return Allowance(
        limit=usage["limit"],
        remaining=max(0, usage["limit"] - usage["count"]),
        reset_sec=max(1, usage["time_left"]),
    )
