"""What became of the pages of a crawl."""

from collections.abc import Callable

from knowledge.models import Item, Source
from tests.support.site import DocSite

Crawl = Callable[..., Source]


def paths(source: Source, state: str) -> set[str]:
    """The paths of the pages that came to a state."""
    found = source.pages.filter(state=state).values_list("url", flat=True)
    return {"/" + url.partition("://")[2].partition("/")[2] for url in found}


def reasons(source: Source) -> dict[str, str]:
    """Why each page that is not kept is not."""
    pages = source.pages.exclude(state="kept").values_list("url", "reason")
    return {"/" + url.partition("://")[2].partition("/")[2]: reason for url, reason in pages}


def item_of(source: Source, docs: DocSite, path: str) -> Item:
    """The item that a page became."""
    item = source.pages.get(url=docs.url(path)).item
    assert item is not None
    return item
