from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.fields import Flag, Text
from knowledge.api.shapes import FolderOutput
from knowledge.api.toolsets import ITEMS
from knowledge.asks import Ask
from knowledge.library import items as library
from knowledge.library.items import MAX_FOLDER_NAME


class FolderInput(Input):
    """A folder's name, unique whatever its case."""

    name = Text(shortest=1, longest=MAX_FOLDER_NAME)


class FoldersOutput(serializers.Serializer[Any]):
    folders = FolderOutput(many=True)


class FoldersView(AskView):
    """The folders a token reaches."""

    asks = {"GET": Ask.LIST_FOLDERS, "POST": Ask.CREATE_FOLDER}
    toolsets = ITEMS

    @extend_schema(
        operation_id="list_folders", tags=["folders"], responses={200: FoldersOutput, **errors()}
    )
    def get(self, request: Request) -> Response:
        return Response(answer_as(FoldersOutput, {"folders": library.list_folders(self.access)}))

    @extend_schema(
        operation_id="create_folder",
        tags=["folders"],
        request=FolderInput,
        responses={201: FolderOutput, **errors(403, 409)},
    )
    def post(self, request: Request) -> Response:
        folder = library.create_folder(self.access, FolderInput.of_body(request)["name"])
        return Response(answer_as(FolderOutput, folder), status=status.HTTP_201_CREATED)


class FolderDeletionInput(Input):
    """What becomes of the items."""

    cascade_items = Flag(
        default=False, help_text="Delete the items in it too, wherever else they are filed."
    )


class FolderView(AskView):
    """One folder: rename it, delete it."""

    asks = {"PATCH": Ask.UPDATE_FOLDER, "DELETE": Ask.DELETE_FOLDER}
    toolsets = ITEMS
    reads_query = frozenset({"DELETE"})

    @extend_schema(
        operation_id="rename_folder",
        tags=["folders"],
        request=FolderInput,
        responses={200: FolderOutput, **errors(403, 404, 409)},
    )
    def patch(self, request: Request, folder_id: str) -> Response:
        name = FolderInput.of_body(request)["name"]
        return Response(
            answer_as(FolderOutput, library.rename_folder(self.access, path_id(folder_id), name))
        )

    @extend_schema(
        operation_id="delete_folder",
        tags=["folders"],
        parameters=[FolderDeletionInput],
        responses={204: None, **errors(403, 404)},
    )
    def delete(self, request: Request, folder_id: str) -> Response:
        asked = FolderDeletionInput.of_query(request)
        library.delete_folder(self.access, path_id(folder_id), **asked)
        return Response(status=status.HTTP_204_NO_CONTENT)
