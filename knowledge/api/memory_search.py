from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, answer_as, errors
from knowledge.api.memory_search_shapes import MemorySearchInput, MemorySearchOutput
from knowledge.api.toolsets import MEMORY
from knowledge.asks import Ask
from knowledge.memory.requests import SearchRequest
from knowledge.memory.searching import search_memory


class MemorySearchView(AskView):
    """Memory's search: items that were remembered, and documents beside them."""

    asks = {"POST": Ask.SEARCH}
    toolsets = MEMORY

    @extend_schema(
        operation_id="search_memory",
        tags=["memory"],
        request=MemorySearchInput,
        responses={200: MemorySearchOutput, **errors(403, 404, 503)},
    )
    def post(self, request: Request) -> Response:
        found = search_memory(self.access, SearchRequest(**MemorySearchInput.of_body(request)))
        return Response(answer_as(MemorySearchOutput, found))
