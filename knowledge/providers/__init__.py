"""The embedders that Quarry can run on, by the name that the settings call them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from knowledge.providers.protocols import Embedder

_loading = Lock()


def live_embedder() -> Embedder:
    """The embedder that the settings choose for a new index."""
    return embedder_named(settings.QUARRY_EMBEDDER)


def embedder_named(name: str) -> Embedder:
    """The embedder of that name, loaded once for the whole process; its vendor's code only now."""
    if name not in _EMBEDDERS:
        known = ", ".join(sorted(_EMBEDDERS))
        raise ImproperlyConfigured(f"There is no embedder {name!r}; there are: {known}.")
    with _loading:
        return _loaded(name)


@cache
def _loaded(name: str) -> Embedder:
    return _EMBEDDERS[name]()


def _granite() -> Embedder:
    from knowledge.providers.granite import GraniteEmbedder

    return GraniteEmbedder(cache_dir=Path(settings.QUARRY_HOME) / "models")


def _voyage() -> Embedder:
    from knowledge.providers.voyage import VoyageEmbedder

    return VoyageEmbedder(settings.VOYAGE_API_KEY, base_url=settings.VOYAGE_BASE_URL or None)


def _fake() -> Embedder:
    from knowledge.providers.fake import FakeEmbedder

    return FakeEmbedder()


_EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "granite": _granite,
    "voyage": _voyage,
    "fake": _fake,
}
