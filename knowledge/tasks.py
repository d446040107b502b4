"""Jobs: load by id, check, call one step of the pipeline."""

from uuid import UUID

import dramatiq
from dramatiq.middleware import CurrentMessage

from knowledge import generations
from knowledge.broker import configure_broker
from knowledge.errors import ProviderUnavailable

# Here, and not when the app is ready: an actor belongs to the broker there is when it is made.
configure_broker()

_MAX_RETRIES = 8


@dramatiq.actor(max_retries=_MAX_RETRIES, min_backoff=2_000, time_limit=3_600_000)
def embed_item(item_id: str) -> None:
    """Give an item found by word its vectors."""
    try:
        generations.embed_item(UUID(item_id))
    except ProviderUnavailable as error:
        _give_up_after_last_try(item_id, error)
        raise


def _give_up_after_last_try(item_id: str, error: ProviderUnavailable) -> None:
    message = CurrentMessage.get_current_message()
    if message is None or message.options.get("retries", 0) >= _MAX_RETRIES:
        generations.mark_embedding_failed(UUID(item_id), error.message)
