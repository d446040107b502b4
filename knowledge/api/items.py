from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge import ingestion, library
from knowledge.api.base import AskView, Input, OneOf, WholeNumber, errors, path_id
from knowledge.api.shapes import AddOutput, FullItemOutput, ItemPageOutput
from knowledge.library import MAX_PAGE, MAX_PER_PAGE, ItemChanges, ItemFilter
from knowledge.models import ItemType, Visibility


class IngestInput(Input):
    kind = serializers.CharField(help_text="`text` or `url`.")
    text = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=ingestion.MAX_TEXT
    )
    title = serializers.CharField(required=False, allow_blank=True, max_length=ingestion.MAX_TITLE)
    url = serializers.CharField(required=False, allow_blank=True)
    in_kb = serializers.BooleanField(default=True)
    auto_transform = serializers.BooleanField(default=False)
    tags = serializers.ListField(child=serializers.CharField(), default=list)


class IngestView(AskView):
    """Add a text to the library."""

    asks = {"POST": "add"}

    @extend_schema(
        operation_id="ingest",
        tags=["items"],
        request=IngestInput,
        responses={201: AddOutput, **errors(403, 413, 422)},
    )
    def post(self, request: Request) -> Response:
        asked = IngestInput.of_body(request)
        added = ingestion.add_to_knowledge(self.access, **asked)
        return Response(AddOutput(added).data, status=status.HTTP_201_CREATED)


class ItemsInput(Input):
    folder_id = serializers.UUIDField(required=False)
    archived = serializers.BooleanField(required=False)
    in_kb = serializers.BooleanField(required=False)
    type = OneOf(ItemType.choices, required=False)
    tag = serializers.CharField(required=False)
    q = serializers.CharField(required=False, help_text="Words of the title.")
    since = serializers.CharField(required=False)
    page = WholeNumber(default=1, min_value=1, max_value=MAX_PAGE)
    per_page = WholeNumber(default=20, min_value=1, max_value=MAX_PER_PAGE)


class ItemsView(AskView):
    """The items a token may see, newest first."""

    asks = {"GET": "list_items"}

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
        return Response(ItemPageOutput(found).data)


class ItemChangesInput(Input):
    title = serializers.CharField(required=False, max_length=ingestion.MAX_TITLE)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    in_kb = serializers.BooleanField(required=False)
    archived = serializers.BooleanField(required=False)
    visibility = OneOf(Visibility.choices, required=False)


class ItemView(AskView):
    """One item: read it, change it, delete it."""

    asks = {"GET": "get_item", "PATCH": "update_item", "DELETE": "delete_item"}

    @extend_schema(
        operation_id="get_item", tags=["items"], responses={200: FullItemOutput, **errors(404)}
    )
    def get(self, request: Request, item_id: str) -> Response:
        item = library.get_item(self.access, path_id(item_id))
        return Response(FullItemOutput(item).data)

    @extend_schema(
        operation_id="update_item",
        tags=["items"],
        request=ItemChangesInput,
        responses={200: FullItemOutput, **errors(403, 404)},
    )
    def patch(self, request: Request, item_id: str) -> Response:
        changes = ItemChanges(**ItemChangesInput.of_body(request))
        item = library.update_item(self.access, path_id(item_id), changes)
        return Response(FullItemOutput(item).data)

    @extend_schema(
        operation_id="delete_item", tags=["items"], responses={204: None, **errors(403, 404)}
    )
    def delete(self, request: Request, item_id: str) -> Response:
        library.delete_item(self.access, path_id(item_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class FilingInput(Input):
    folder_ids = serializers.ListField(
        child=serializers.UUIDField(), allow_empty=False, max_length=1000
    )


class FilingOutput(serializers.Serializer[Any]):
    user_item_id = serializers.UUIDField(source="pk")
    folder_ids = serializers.ListField(child=serializers.UUIDField())


class ItemFoldersView(AskView):
    """The folders an item is in."""

    asks = {"POST": "file_item"}

    @extend_schema(
        operation_id="file_item",
        tags=["items"],
        request=FilingInput,
        responses={200: FilingOutput, **errors(403, 404)},
    )
    def post(self, request: Request, item_id: str) -> Response:
        folder_ids = FilingInput.of_body(request)["folder_ids"]
        item = library.file_item(self.access, path_id(item_id), folder_ids)
        return Response(FilingOutput(item).data)


class ItemFolderView(AskView):
    """An item's place in one folder."""

    asks = {"DELETE": "file_item"}

    @extend_schema(
        operation_id="unfile_item", tags=["items"], responses={204: None, **errors(403, 404)}
    )
    def delete(self, request: Request, item_id: str, folder_id: str) -> Response:
        library.unfile_item(self.access, path_id(item_id), path_id(folder_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
