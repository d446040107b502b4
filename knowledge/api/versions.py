"""Versions of items: an answer's ETag, and the conditions that callers put on it."""

import hashlib
from typing import Any, TypeVar

from django.http.response import HttpResponseBase
from django.utils.http import parse_etags
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import answer_as
from knowledge.api.shapes import FullItemOutput
from knowledge.errors import Conflict
from knowledge.library.items import Expectation
from knowledge.models import Item

ResponseT = TypeVar("ResponseT", bound=HttpResponseBase)

IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Only if the item is still of this ETag, else 409 with the reason `changed`.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Answer 304 without a body if the item is still of this ETag.",
)
ETAG = OpenApiParameter(
    "ETag",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    response=[200, 304],
    description="The version of the item as this token sees it.",
)


def item_response(item: Item) -> Response:
    """The whole item, with its version."""
    data = answer_as(FullItemOutput, item)
    return Response(data, headers={"ETag": _etag(data)})


def unless_known(request: Request, answer: ResponseT) -> ResponseT | Response:
    """Nothing but the version, for a caller who has this answer already."""
    known = parse_etags(request.headers.get("If-None-Match", ""))
    etag = answer.headers["ETag"]
    if "*" in known or etag in (each.removeprefix("W/") for each in known):
        return Response(status=304, headers={"ETag": etag})
    return answer


def if_match_check(request: Request) -> Expectation:
    """Refuses an item that is not of the version that the caller names, if it names one."""
    wanted = request.headers.get("If-Match")

    def expect(item: Item) -> None:
        if wanted is None or wanted.strip() == "*":
            return
        if _etag(answer_as(FullItemOutput, item)) not in parse_etags(wanted):
            raise Conflict(
                "The item has changed since the version in If-Match; read it again, then decide.",
                reason="changed",
            )

    return expect


def _etag(data: Any) -> str:
    """The ETag covers the whole answer: any change that this caller sees is another version."""
    return f'"{hashlib.sha256(JSONRenderer().render(data)).hexdigest()[:32]}"'
