from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors
from knowledge.api.fields import Flag, Id, ListOf, OneOf, Since, Tags, Text, WholeNumber
from knowledge.api.shapes import SearchOutput
from knowledge.api.toolsets import SEARCH
from knowledge.asks import Ask
from knowledge.models import ItemType
from knowledge.retrieval.neighbours import MAX_WINDOW
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import (
    MAX_LIMIT,
    MAX_OFFSET,
    MAX_QUERY,
    MODES,
    LibrarySearchRequest,
    search,
)

FILTERS = ("folder_id", "types", "tags", "since")


class SearchInput(Input):
    """The ranges shown here are the domain's own, which checks them."""

    query = Text(shortest=1, longest=MAX_QUERY, help_text="What to find.")
    limit = WholeNumber(default=8, min_value=1, max_value=MAX_LIMIT)
    mode = OneOf(MODES, default="hybrid")
    offset = WholeNumber(default=0, min_value=0, max_value=MAX_OFFSET)
    folder_id = Id(required=False, allow_null=True, help_text="Only in this folder.")
    types = ListOf(child=OneOf(ItemType.choices), default=list, most=20)
    tags = Tags(default=list, help_text="Only items with all these.")
    fold = Flag(
        default=True, help_text="Fold hits of one item that say the same under the best of them."
    )
    explain = Flag(
        default=False, help_text="Say which words matched and what makes each hit visible."
    )
    window = WholeNumber(
        default=0,
        min_value=0,
        max_value=MAX_WINDOW,
        help_text="Give each hit's whole chunk, and so many before and after it.",
    )
    since = Since(required=False, allow_null=True)


class SearchView(AskView):
    """The library's search, by parameters in the address or in a body."""

    asks = {"GET": Ask.SEARCH, "POST": Ask.SEARCH}
    toolsets = SEARCH
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="search",
        tags=["search"],
        parameters=[SearchInput],
        responses={200: SearchOutput, **errors(403, 404, 503)},
    )
    def get(self, request: Request) -> Response:
        return self._search(SearchInput.of_query(request))

    @extend_schema(
        operation_id="search_by_body",
        tags=["search"],
        request=SearchInput,
        responses={200: SearchOutput, **errors(403, 404, 503)},
    )
    def post(self, request: Request) -> Response:
        return self._search(SearchInput.of_body(request))

    def _search(self, asked: dict[str, Any]) -> Response:
        narrowing = Narrowing(**{name: asked.pop(name, None) for name in FILTERS})
        answer = search(self.access, LibrarySearchRequest(**asked, narrowing=narrowing))
        return Response(answer_as(SearchOutput, answer))
