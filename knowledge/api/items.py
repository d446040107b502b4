from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.batches import BatchInput, BatchOutput, BatchView, ResultOutput, entries_of
from knowledge.api.fields import Flag, Id, ListOf, OneOf, Since, Tags, Text, WholeNumber
from knowledge.api.shapes import AddOutput, EstimateOutput, FullItemOutput, ItemPageOutput
from knowledge.api.toolsets import ITEMS, LIBRARY, READING
from knowledge.api.versions import (
    ETAG,
    IF_MATCH,
    IF_NONE_MATCH,
    if_match_check,
    item_response,
    unless_known,
)
from knowledge.asks import Ask
from knowledge.ingest import adding, batches, estimating
from knowledge.ingest.items import MAX_TITLE
from knowledge.library import editing
from knowledge.library import items as library
from knowledge.library.items import MAX_PAGE, MAX_PER_PAGE, ItemFilter
from knowledge.models import ItemType, Visibility
from knowledge.validation import MAX_TAG


class IngestInput(Input):
    """A text, or a link to follow."""

    kind = Text(words=adding.KINDS, help_text="A link to follow, or a text as it is.")
    text = Text(
        required=False,
        allow_null=True,
        shortest=adding.MIN_TEXT,
        longest=adding.MAX_TEXT,
        help_text="For kind text.",
    )
    title = Text(
        required=False,
        allow_null=True,
        shortest=1,
        longest=MAX_TITLE,
        help_text="For kind text; for a link in place of its own.",
    )
    url = Text(
        required=False,
        allow_null=True,
        shortest=1,
        longest=adding.MAX_URL,
        help_text="For kind url: a page, video, podcast or audio link.",
    )
    in_kb = Flag(default=True, help_text="Make it searchable.")
    auto_transform = Flag(default=False, help_text="Also have it summed up.")
    tags = Tags(default=list)
    folder_id = Id(
        required=False, allow_null=True, help_text="A folder within reach to file it in."
    )
    dry_run = Flag(default=False, help_text="Only say what it would be and cost.")


class IngestView(AskView):
    """Add a text or a link to the library."""

    asks = {"POST": Ask.ADD}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="ingest",
        tags=["items"],
        request=IngestInput,
        responses={
            200: OpenApiResponse(EstimateOutput, "With `dry_run`."),
            201: AddOutput,
            **errors(402, 403, 413, 415, 422, 503),
        },
    )
    def post(self, request: Request) -> Response:
        asked = IngestInput.of_body(request)
        if asked.pop("dry_run"):
            return Response(answer_as(EstimateOutput, estimating.estimate(self.access, **asked)))
        added = adding.add_to_knowledge(self.access, **asked)
        return Response(answer_as(AddOutput, added), status=status.HTTP_201_CREATED)


class IngestEntryInput(Input):
    """A text to add."""

    kind = Text(default="text", help_text="Only `text`: links are added one by one.")
    text = Text(shortest=adding.MIN_TEXT, longest=adding.MAX_TEXT)
    title = Text(shortest=1, longest=MAX_TITLE)
    in_kb = Flag(default=True, help_text="Make it searchable.")
    auto_transform = Flag(default=False, help_text="Also have it summed up.")
    tags = Tags(default=list)
    folder_id = Id(
        required=False, allow_null=True, help_text="A folder within reach to file it in."
    )


class IngestBatchInput(BatchInput):
    entries = entries_of(IngestEntryInput())
    dry_run = Flag(default=False, help_text="Only say what each would be and cost.")


class IngestResultOutput(ResultOutput):
    answer = AddOutput(required=False, help_text="If it was added.")


class IngestBatchOutput(BatchOutput):
    results = IngestResultOutput(many=True)


class EstimateResultOutput(ResultOutput):
    answer = EstimateOutput(required=False)


class EstimateBatchOutput(BatchOutput):
    results = EstimateResultOutput(many=True)


class IngestBatchView(BatchView):
    """Add many texts to the library."""

    asks = {"POST": Ask.ADD}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="ingest_batch",
        tags=["items"],
        request=IngestBatchInput,
        responses={
            200: OpenApiResponse(EstimateBatchOutput, "With `dry_run`."),
            201: OpenApiResponse(IngestBatchOutput, "What became of each, also if none was added."),
            **errors(403, 413, 415, 503),
        },
    )
    def post(self, request: Request) -> Response:
        entries, asked = IngestBatchInput.read(request)
        atomic = asked["atomic"]
        if asked["dry_run"]:
            estimates = batches.estimate_texts(self.access, entries, atomic=atomic)
            return Response(self.results(estimates, EstimateOutput()))
        added = batches.add_texts(self.access, entries, atomic=atomic)
        return Response(self.results(added, AddOutput()), status=status.HTTP_201_CREATED)


class ItemsInput(Input):
    """How the listing is narrowed and paged."""

    folder_id = Id(required=False)
    archived = Flag(required=False)
    in_kb = Flag(required=False)
    type = OneOf(ItemType.choices, required=False)
    tag = Text(required=False, shortest=1, longest=MAX_TAG)
    q = Text(required=False, shortest=1, longest=200, help_text="Words of the title.")
    since = Since(required=False)
    page = WholeNumber(default=1, min_value=1, max_value=MAX_PAGE)
    per_page = WholeNumber(default=20, min_value=1, max_value=MAX_PER_PAGE)


class ItemsView(AskView):
    """The items a token may see, newest first."""

    asks = {"GET": Ask.LIST_ITEMS}
    toolsets = LIBRARY
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="list_items",
        tags=["items"],
        parameters=[ItemsInput],
        responses={200: ItemPageOutput, **errors(404)},
    )
    def get(self, request: Request) -> Response:
        asked = ItemsInput.of_query(request)
        page, per_page = asked.pop("page"), asked.pop("per_page")
        found = library.list_items(self.access, ItemFilter(**asked), page=page, per_page=per_page)
        return Response(answer_as(ItemPageOutput, found))


class ItemChangesInput(Input):
    """What to change; what is left out stays."""

    title = Text(required=False, shortest=1, longest=MAX_TITLE)
    tags = Tags(required=False)
    in_kb = Flag(required=False, help_text="Off removes its chunks, on makes them.")
    archived = Flag(required=False)
    visibility = OneOf(Visibility.choices, required=False)


class ItemView(AskView):
    """One item: read it, change it, delete it."""

    asks = {"GET": Ask.GET_ITEM, "PATCH": Ask.UPDATE_ITEM, "DELETE": Ask.DELETE_ITEM}
    toolsets = ITEMS

    def toolsets_for(self, method: str) -> tuple[str, ...]:
        return READING if method == "GET" else self.toolsets

    @extend_schema(
        operation_id="get_item",
        tags=["items"],
        parameters=[IF_NONE_MATCH, ETAG],
        responses={
            200: FullItemOutput,
            304: OpenApiResponse(description="It is still of the ETag in If-None-Match."),
            **errors(404),
        },
    )
    def get(self, request: Request, item_id: str) -> Response:
        answer = item_response(library.get_item(self.access, path_id(item_id)))
        return unless_known(request, answer)

    @extend_schema(
        operation_id="update_item",
        tags=["items"],
        request=ItemChangesInput,
        parameters=[IF_MATCH, ETAG],
        responses={200: FullItemOutput, **errors(403, 404, 409, 503)},
    )
    def patch(self, request: Request, item_id: str) -> Response:
        changes = editing.ItemChanges(**ItemChangesInput.of_body(request))
        expect = if_match_check(request)
        return item_response(
            editing.update_item(self.access, path_id(item_id), changes, expect=expect)
        )

    @extend_schema(
        operation_id="delete_item",
        tags=["items"],
        parameters=[IF_MATCH],
        responses={204: None, **errors(403, 404, 409)},
    )
    def delete(self, request: Request, item_id: str) -> Response:
        library.delete_item(self.access, path_id(item_id), expect=if_match_check(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ItemRetryView(AskView):
    """Another try at what failed."""

    asks = {"POST": Ask.RETRY}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="retry_item",
        tags=["items"],
        request=None,
        responses={202: FullItemOutput, **errors(402, 403, 404, 409)},
    )
    def post(self, request: Request, item_id: str) -> Response:
        item = library.retry_item(self.access, path_id(item_id))
        return Response(answer_as(FullItemOutput, item), status=status.HTTP_202_ACCEPTED)


class FilingInput(Input):
    """The folders to put the item in."""

    folder_ids = ListOf(child=Id(), fewest=1, most=1000)


class FilingOutput(serializers.Serializer[Any]):
    user_item_id = serializers.UUIDField(source="pk")
    folder_ids = serializers.ListField(child=serializers.UUIDField())


class ItemFoldersView(AskView):
    """The folders an item is in."""

    asks = {"POST": Ask.FILE_ITEM}
    toolsets = ITEMS

    @extend_schema(
        operation_id="file_item",
        tags=["items"],
        request=FilingInput,
        responses={200: FilingOutput, **errors(403, 404)},
    )
    def post(self, request: Request, item_id: str) -> Response:
        folder_ids = FilingInput.of_body(request)["folder_ids"]
        item = library.file_item(self.access, path_id(item_id), folder_ids)
        return Response(answer_as(FilingOutput, item))


class ItemFolderView(AskView):
    """An item's place in one folder."""

    asks = {"DELETE": Ask.FILE_ITEM}
    toolsets = ITEMS

    @extend_schema(
        operation_id="unfile_item", tags=["items"], responses={204: None, **errors(403, 404)}
    )
    def delete(self, request: Request, item_id: str, folder_id: str) -> Response:
        library.unfile_item(self.access, path_id(item_id), path_id(folder_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
