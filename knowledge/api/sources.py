from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.fields import Flag, Id, ListOf, OneOf, Text, WholeNumber
from knowledge.api.toolsets import MEMORY
from knowledge.asks import Ask
from knowledge.crawling import documentation
from knowledge.crawling.documentation import (
    MAX_NAME,
    MAX_PATTERN,
    MAX_PATTERNS,
    SourceChanges,
)
from knowledge.library.items import MAX_PAGE, MAX_PER_PAGE
from knowledge.models import CrawlState, PageState, Source, SourcePage
from knowledge.models.documentation import MAX_DEPTH, MAX_PAGES
from knowledge.sources.extracted import MAX_PAGE_URL


class Pattern(Text):
    """A path in which * stands for anything."""

    def __init__(self) -> None:
        super().__init__(shortest=1, longest=MAX_PATTERN)
        self.shown["pattern"] = r"^[/*]"


class Patterns(ListOf):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=Pattern(), most=MAX_PATTERNS, **kwargs)


class SourceChangesInput(Input):
    """What to change; what is left out stays."""

    name = Text(required=False, shortest=1, longest=MAX_NAME)
    include = Patterns(required=False, help_text="Only pages whose path fits one of these.")
    exclude = Patterns(required=False, help_text="No page whose path fits one of these.")
    depth = WholeNumber(required=False, min_value=1, max_value=MAX_DEPTH)
    max_pages = WholeNumber(required=False, min_value=1, max_value=MAX_PAGES)


class SourceInput(Input):
    """A site to crawl."""

    name = Text(
        shortest=1,
        longest=MAX_NAME,
        help_text="Unique, whatever its case, among the sources that the token sees.",
    )
    start_url = Text(shortest=1, longest=MAX_PAGE_URL, help_text="Only its own site is crawled.")
    include = Patterns(default=list, help_text="Only pages whose path fits one of these.")
    exclude = Patterns(default=list, help_text="No page whose path fits one of these.")
    depth = WholeNumber(
        default=documentation.DEPTH,
        min_value=1,
        max_value=MAX_DEPTH,
        help_text="Links away from the start.",
    )
    max_pages = WholeNumber(
        default=documentation.PAGES,
        min_value=1,
        max_value=MAX_PAGES,
        help_text="Pages to keep, at most.",
    )
    folder_id = Id(
        required=False,
        allow_null=True,
        help_text="Where its pages are filed; required of a token that reaches several folders.",
    )


class PageCountsOutput(serializers.Serializer[Any]):
    """How many pages are in each state."""

    queued = serializers.IntegerField()
    kept = serializers.IntegerField()
    same = serializers.IntegerField()
    skipped = serializers.IntegerField()
    failed = serializers.IntegerField()
    gone = serializers.IntegerField()


class SourceOutput(serializers.ModelSerializer[Source]):
    """A source, and how far its crawl is."""

    include = serializers.ListField(child=serializers.CharField(), read_only=True)
    exclude = serializers.ListField(child=serializers.CharField(), read_only=True)
    folder_id = serializers.UUIDField(read_only=True, allow_null=True)
    state = serializers.ChoiceField(CrawlState.choices, read_only=True)
    crawl = serializers.IntegerField(read_only=True, help_text="How many times it was begun.")
    pages = PageCountsOutput(source="page_counts", read_only=True)
    pages_done = serializers.IntegerField(read_only=True, help_text="Seen in this crawl.")
    pages_known = serializers.IntegerField(read_only=True)
    percent = serializers.IntegerField(read_only=True, help_text="By what is known so far.")
    error = serializers.CharField(read_only=True, help_text="Empty unless it failed.")

    class Meta:
        model = Source
        fields = [
            "id",
            "name",
            "start_url",
            "include",
            "exclude",
            "depth",
            "max_pages",
            "folder_id",
            "state",
            "crawl",
            "pages",
            "pages_done",
            "pages_known",
            "percent",
            "error",
            "created_at",
            "begun_at",
            "finished_at",
        ]
        read_only_fields = fields


class SourceListOutput(serializers.Serializer[Any]):
    sources = SourceOutput(many=True)


class SourcesView(AskView):
    """The sites that are crawled into the library."""

    asks = {"GET": Ask.SOURCES, "POST": Ask.CRAWL}
    toolsets = MEMORY

    @extend_schema(
        operation_id="list_sources", tags=["sources"], responses={200: SourceListOutput, **errors()}
    )
    def get(self, request: Request) -> Response:
        found = documentation.list_sources(self.access)
        return Response(answer_as(SourceListOutput, {"sources": found}))

    @extend_schema(
        operation_id="add_source",
        tags=["sources"],
        request=SourceInput,
        responses={201: SourceOutput, **errors(403, 409)},
    )
    def post(self, request: Request) -> Response:
        source = documentation.add_source(self.access, **SourceInput.of_body(request))
        return Response(answer_as(SourceOutput, source), status=status.HTTP_201_CREATED)


class SourceDeletionInput(Input):
    """What becomes of the items."""

    delete_items = Flag(default=False, help_text="Delete the items of its pages too.")


class SourceView(AskView):
    """One source: look at it, change it, delete it."""

    asks = {"GET": Ask.SOURCES, "PATCH": Ask.CRAWL, "DELETE": Ask.CRAWL}
    toolsets = MEMORY
    reads_query = frozenset({"DELETE"})

    @extend_schema(
        operation_id="get_source", tags=["sources"], responses={200: SourceOutput, **errors(404)}
    )
    def get(self, request: Request, source_id: str) -> Response:
        return Response(
            answer_as(SourceOutput, documentation.get_source(self.access, path_id(source_id)))
        )

    @extend_schema(
        operation_id="update_source",
        tags=["sources"],
        request=SourceChangesInput,
        responses={200: SourceOutput, **errors(403, 404, 409)},
    )
    def patch(self, request: Request, source_id: str) -> Response:
        wished = SourceChanges(**SourceChangesInput.of_body(request))
        source = documentation.update_source(self.access, path_id(source_id), wished)
        return Response(answer_as(SourceOutput, source))

    @extend_schema(
        operation_id="delete_source",
        tags=["sources"],
        parameters=[SourceDeletionInput],
        responses={204: None, **errors(403, 404)},
    )
    def delete(self, request: Request, source_id: str) -> Response:
        asked = SourceDeletionInput.of_query(request)
        documentation.delete_source(self.access, path_id(source_id), **asked)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SourceCrawlsView(AskView):
    """Another crawl of a source."""

    asks = {"POST": Ask.CRAWL}
    toolsets = MEMORY

    @extend_schema(
        operation_id="crawl_source",
        tags=["sources"],
        request=None,
        responses={202: SourceOutput, **errors(403, 404)},
    )
    def post(self, request: Request, source_id: str) -> Response:
        source = documentation.crawl_again(self.access, path_id(source_id))
        return Response(answer_as(SourceOutput, source), status=status.HTTP_202_ACCEPTED)


class SourcePageOutput(serializers.ModelSerializer[SourcePage]):
    """One address of a source, and what came of it."""

    state = serializers.ChoiceField(PageState.choices, read_only=True)
    user_item_id = serializers.UUIDField(source="item_id", read_only=True, allow_null=True)
    same_as = serializers.CharField(
        read_only=True, help_text="The key of the page that says the same; empty for others."
    )
    reason = serializers.CharField(read_only=True, help_text="Why it is not kept, in one word.")
    error = serializers.CharField(read_only=True, help_text="The same in a sentence.")

    class Meta:
        model = SourcePage
        fields = [
            "url",
            "depth",
            "state",
            "user_item_id",
            "same_as",
            "reason",
            "error",
            "fetched_at",
        ]
        read_only_fields = fields


class SourcePagesOutput(serializers.Serializer[Any]):
    pages = SourcePageOutput(many=True)
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    per_page = serializers.IntegerField()


class SourcePagesInput(Input):
    """How the listing is narrowed and paged."""

    state = OneOf(PageState.choices, required=False)
    page = WholeNumber(default=1, min_value=1, max_value=MAX_PAGE)
    per_page = WholeNumber(default=20, min_value=1, max_value=MAX_PER_PAGE)


class SourcePagesView(AskView):
    """The addresses of a source."""

    asks = {"GET": Ask.SOURCES}
    toolsets = MEMORY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="list_source_pages",
        tags=["sources"],
        parameters=[SourcePagesInput],
        responses={200: SourcePagesOutput, **errors(404)},
    )
    def get(self, request: Request, source_id: str) -> Response:
        asked = SourcePagesInput.of_query(request)
        found = documentation.list_pages(self.access, path_id(source_id), **asked)
        return Response(answer_as(SourcePagesOutput, found))
