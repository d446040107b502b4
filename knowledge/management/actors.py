"""Every module that defines actors: a worker imports them all, or it refuses their messages."""

from importlib import import_module

from django.conf import settings


def import_actors() -> None:
    """Define every actor, on the broker that the settings choose."""
    for module in settings.ACTOR_MODULES:
        import_module(module)
