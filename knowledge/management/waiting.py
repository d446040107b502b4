"""Waiting for an item's job, with a bar that tells how far it is."""

import time
from typing import TextIO

from django.core.management.base import CommandError

from knowledge.management.progress import ProgressBar
from knowledge.models import Content, ContentState, Item

_FINISHED = (ContentState.READY, ContentState.FAILED)
_LOOK_SEC = 0.5
_SUSPICIOUS_SEC = 10


def wait_until_finished(item: Item, stream: TextIO) -> Item:
    """The item once its text is there, or will not be; its job goes on if nobody waits."""
    began, is_told = time.monotonic(), False
    content = _progress(item)
    with ProgressBar(stream, _unit(content)) as bar:
        while content.state not in _FINISHED:
            bar.show(*_seconds_done(content))
            if content.state == ContentState.QUEUED and not is_told:
                is_told = _say_if_nobody_works(stream, began)
            pause()
            content = _progress(item)
            if content.is_ready:
                bar.show(*_seconds_done(content))
    return Item.objects.select_related("content").get(pk=item.pk)


def pause() -> None:
    time.sleep(_LOOK_SEC)


def _progress(item: Item) -> Content:
    content = Content.objects.defer("text", "locators").filter(items=item).first()
    if content is None:
        raise CommandError("It was deleted meanwhile.")
    return content


def _unit(content: Content) -> str:
    return "seconds of recording" if content.duration_sec else "document"


def _seconds_done(content: Content) -> tuple[int, int]:
    total = round(content.duration_sec or 1)
    return total * content.percent // 100, total


def _say_if_nobody_works(stream: TextIO, began: float) -> bool:
    if time.monotonic() - began < _SUSPICIOUS_SEC:
        return False
    stream.write("No worker has taken it yet; `make run` and `manage.py worker` run one.\n")
    return True
