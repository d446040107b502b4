"""Every module that defines actors: a worker imports them all, or it refuses their messages."""

from importlib import import_module

ACTOR_MODULES = (
    "knowledge.ingest.followups",
    "knowledge.ingest.contents",
    "knowledge.ingest.sweeps",
    "knowledge.moderation.actors",
    "knowledge.trust.actors",
    "knowledge.crawling.actors",
)


def import_actors() -> None:
    """Define every actor, on the broker that the settings choose."""
    for module in ACTOR_MODULES:
        import_module(module)
