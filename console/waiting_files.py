"""Recordings that were uploaded and wait until their owner agrees to the price.

Kept in the session, for as long as the upload itself waits.
"""

from typing import Any

from django.http import HttpRequest

from knowledge.ingest.estimating import Estimate

_KEY = "waiting_files"
MOST = 50


def list_waiting(request: HttpRequest) -> list[dict[str, Any]]:
    """What waits, in the order it came."""
    return list(request.session.get(_KEY, {}).values())


def remember(request: HttpRequest, upload_id: str, price: Estimate, given: dict[str, Any]) -> None:
    """Keep what a recording would cost, and how it is to be added."""
    waiting = request.session.get(_KEY, {})
    waiting[upload_id] = {
        "upload_id": upload_id,
        "title": price.title,
        "minutes": price.minutes,
        "cost_usd": price.cost_usd,
        "fits_quota": price.fits_quota,
        "given": given,
    }
    request.session[_KEY] = dict(list(waiting.items())[-MOST:])


def options_of(request: HttpRequest, upload_id: str) -> dict[str, Any]:
    """How a recording is to be added, as its owner said when it was sent."""
    given: dict[str, Any] = request.session.get(_KEY, {}).get(upload_id, {}).get("given", {})
    return given


def forget(request: HttpRequest, upload_id: str) -> None:
    """It is added, or dropped."""
    waiting = request.session.get(_KEY, {})
    if waiting.pop(upload_id, None):
        request.session[_KEY] = waiting
