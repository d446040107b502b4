"""Adding what waits in a table: each row says what came of it, and is safe to try twice."""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from typing import Any, TypeVar

from django.db.models import QuerySet
from django.utils import timezone

from knowledge.access import Access
from knowledge.errors import InternalError, QuarryError
from knowledge.ingest.adding import FoundLink, add_link
from knowledge.ingest.contents import believable_length
from knowledge.ingest.estimating import transcription_cost
from knowledge.ingest.extraction import ANOTHER_AT_IT_SEC, try_advisory_lock
from knowledge.ingest.items import ItemOptions
from knowledge.jobs.actors import may_pass
from knowledge.jobs.notices import Topic, tell_owner
from knowledge.models import Arrival, ArrivalState, ContentState, Item
from knowledge.monitoring.progress import report_to
from knowledge.sources.extracted import Recording

MOST_TRIES = 3
RETRY_SEC = 60.0
"""Doubled each time."""
TURN_SEC = 20.0

A = TypeVar("A", bound=Arrival)


class PriceNotAgreed(Exception):
    """The link leads to a recording, and its owner has not agreed to have it transcribed."""

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording


def refuse_unpaid(link: FoundLink, *, may_transcribe: bool) -> FoundLink:
    """The link, unless it is a recording that would have to be transcribed without leave."""
    if isinstance(link.source, Recording) and not may_transcribe:
        raise PriceNotAgreed(link.source)
    return link


def item_of_key(access: Access, key: str) -> Item | None:
    """The item that the caller has of an address, if it did not fail."""
    items = Item.objects.visible_to(access).filter(content__links__key=key)
    return items.exclude(content__state=ContentState.FAILED).first()


def add_arrival(
    access: Access, arrival: Arrival, options: ItemOptions, *, find: Callable[[], FoundLink]
) -> Item | None:
    """Add what a row's link leads to; the item, if it is new. The row says how it went."""
    if there := item_of_key(access, arrival.key):
        settle(arrival, ArrivalState.THERE, item=there)
        return None
    with report_to(lambda step: _tell_step(access.owner_id, arrival, step)):
        return add_link(access, options, find=find)


def try_arrival(arrival: Arrival, add: Callable[[], None]) -> None:
    """Run a row's addition: whatever goes wrong is written on the row, and stops no other."""
    try:
        add()
    except PriceNotAgreed as offer:
        _set_price(arrival, offer.recording)
    except QuarryError as error:
        _fail(arrival, error)
    except Exception:
        _fail(arrival, InternalError("Something went wrong here; retry, then tell the operator."))
        raise


def settle(
    arrival: Arrival, state: ArrivalState, *, item: Item | None = None, reason: str = ""
) -> None:
    """Write down what came of a row."""
    arrival.state, arrival.item, arrival.reason = state, item, reason
    arrival.step = arrival.error = ""
    arrival.save()


def try_again(arrivals: QuerySet[Any], *, may_transcribe: bool | None = None) -> int:
    """Have rows wait for their job once more; how many there are."""
    paid = {} if may_transcribe is None else {"may_transcribe": may_transcribe}
    return arrivals.update(
        state=ArrivalState.WAITING,
        step="",
        reason="",
        error="",
        tries=0,
        due_at=timezone.now(),
        changed_at=timezone.now(),
        **paid,
    )


def _tell_step(owner_id: int, arrival: Arrival, step: str) -> None:
    arrival.step = step[:10]
    arrival.save(update_fields=["step", "changed_at"])
    tell_owner(owner_id, Topic.ARRIVALS)


def _set_price(arrival: Arrival, recording: Recording) -> None:
    seconds = believable_length(recording)
    arrival.minutes = None if seconds is None else round(seconds / 60, 1)
    arrival.cost_usd = None if seconds is None else transcription_cost(seconds)
    arrival.title = arrival.title or recording.title[:500]
    settle(arrival, ArrivalState.PRICED)


def _fail(arrival: Arrival, error: QuarryError) -> None:
    arrival.tries += 1
    arrival.step, arrival.error = "", error.message
    arrival.reason = str(error.details.get("reason", error.code))[:40]
    if may_pass(error) and arrival.tries < MOST_TRIES:
        pause = RETRY_SEC * 2 ** (arrival.tries - 1)
        arrival.due_at = timezone.now() + timedelta(seconds=pause)
    else:
        arrival.state = ArrivalState.FAILED
    arrival.save()


def take_turn(
    number: int, next_row: Callable[[], A | None], work: Callable[[A], None]
) -> float | None:
    """Work on rows for a while; the seconds until the next turn, None if nothing is left.

    One worker at a time has the turn of a number. It is short, so that others have theirs.
    """
    with try_advisory_lock(number) as is_alone:
        if not is_alone:
            return ANOTHER_AT_IT_SEC
        ends = monotonic() + TURN_SEC
        while monotonic() < ends:
            row = next_row()
            if row is None:
                return None
            wait = (row.due_at - timezone.now()).total_seconds()
            if wait > 0:
                return wait
            work(row)
        return 0.0
