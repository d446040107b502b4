from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, errors
from knowledge.api.fields import Flag, Id, ListOf, OneOf, Since, Tags, Text, WholeNumber
from knowledge.api.memory_search_shapes import AnyOf, MemorySearchInput, MemorySearchOutput
from knowledge.api.shapes import SearchOutput
from knowledge.errors import InvalidInput
from knowledge.memory.searching import MAX_LIMIT as MOST_REMEMBERED
from knowledge.memory.searching import search_memory
from knowledge.models import ItemType
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import MAX_LIMIT, MAX_OFFSET, MAX_QUERY, MODES, search


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
    since = Since(required=False, allow_null=True)


class EitherInput(MemorySearchInput, SearchInput):
    """All that an address may ask with; what belongs to one search alone says which is meant."""

    limit = WholeNumber(
        required=False,
        min_value=1,
        max_value=MOST_REMEMBERED,
        help_text=f"Of the library's search 8, and at most {MAX_LIMIT}; of memory's 10.",
    )


LIBRARY_ONLY = SearchInput().fields.keys() - MemorySearchInput().fields.keys()
MEMORY_ONLY = MemorySearchInput().fields.keys() - SearchInput().fields.keys()

_EITHER = PolymorphicProxySerializer(
    component_name="Found",
    serializers=[SearchOutput, MemorySearchOutput],
    resource_type_field_name=None,
)
_EITHER_BODY = AnyOf(
    component_name="SearchBody",
    serializers=[MemorySearchInput, SearchInput],
    resource_type_field_name=None,
)


class SearchView(AskView):
    """The library's search by passages, or memory's by items: what is asked for says which."""

    asks = {"GET": "search", "POST": "search"}
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="search",
        tags=["search"],
        parameters=[EitherInput],
        responses={200: _EITHER, **errors(404, 503)},
    )
    def get(self, request: Request) -> Response:
        if is_for_memory(request.query_params, otherwise=False):
            return self._remembered(MemorySearchInput.of_query(request))
        return self._found(SearchInput.of_query(request))

    @extend_schema(
        operation_id="search_by_body",
        tags=["search"],
        request=_EITHER_BODY,
        responses={200: _EITHER, **errors(404, 503)},
    )
    def post(self, request: Request) -> Response:
        if is_for_memory(request.data, otherwise=True):
            return self._remembered(MemorySearchInput.of_body(request))
        return self._found(SearchInput.of_body(request))

    def _found(self, asked: dict[str, Any]) -> Response:
        names = asdict(Narrowing()).keys() & asked.keys()
        narrowing = Narrowing(**{name: asked.pop(name) for name in names})
        answer = search(self.access, **asked, narrowing=narrowing)
        return Response(SearchOutput(answer).data)

    def _remembered(self, asked: dict[str, Any]) -> Response:
        return Response(MemorySearchOutput(search_memory(self.access, **asked)).data)


def is_for_memory(given: Any, *, otherwise: bool) -> bool:
    """Which of the two searches these parameters mean; those of both at once mean neither."""
    names = set(given) if isinstance(given, dict) else set()
    library, memory = sorted(names & LIBRARY_ONLY), sorted(names & MEMORY_ONLY)
    if library and memory:
        raise InvalidInput(
            f"{library[0]} is of the library's search and {memory[0]} of memory's; "
            "leave out one of them.",
            field=memory[0],
        )
    return bool(memory) or (otherwise and not library)
