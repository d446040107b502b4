"""What every module with actors imports: the broker, and how often a job is tried."""

from dramatiq.middleware import CurrentMessage

from knowledge.errors import QuarryError
from knowledge.jobs.broker import configure_broker

# Here, and not when the app is ready: an actor belongs to the broker there is when it is made.
configure_broker()

MAX_RETRIES = 8
HOUR = 3_600_000
"""In milliseconds, as Dramatiq counts."""


def may_pass(error: QuarryError) -> bool:
    """Whether the same call may go well later: an outage, but not a broken file."""
    return bool(error.details.get("may_pass", False))


def is_last_try() -> bool:
    """Whether the job that runs now is not retried; a plain call is its own last try."""
    message = CurrentMessage.get_current_message()
    return message is None or message.options.get("retries", 0) >= MAX_RETRIES
