from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors
from knowledge.api.fields import Flag, Id, Tags, Text, WholeNumber
from knowledge.api.shapes import AddOutput
from knowledge.api.toolsets import LIBRARY
from knowledge.asks import Ask
from knowledge.ingest import adding_files, uploads
from knowledge.ingest.items import MAX_TITLE


class SignedUrlInput(Input):
    """The file that is to come."""

    filename = Text(shortest=1, longest=uploads.MAX_FILENAME)
    mime_type = Text(
        shortest=1,
        longest=uploads.MAX_MEDIA_TYPE,
        help_text="What the file is; the PUT must say the same.",
    )
    size = WholeNumber(min_value=1, help_text="Of the file, in bytes.")


class SignedUrlOutput(serializers.Serializer[Any]):
    upload_id = serializers.UUIDField(source="upload.pk")
    signed_url = serializers.SerializerMethodField(help_text="Where to put the file, once.")
    method = serializers.CharField(source="put.method")
    headers = serializers.DictField(
        source="put.headers", child=serializers.CharField(), help_text="To be sent with the file."
    )
    expires_at = serializers.DateTimeField(help_text="The PUT must begin before.")
    max_bytes = serializers.IntegerField(help_text="The largest file that is taken at all.")

    def get_signed_url(self, begun: uploads.Begun) -> str:
        return absolute_url(self.context["request"], begun.put.url)


class SignedUrlView(AskView):
    """The first of three steps: an address to put one file at. It needs no token."""

    asks = {"POST": Ask.BEGIN_UPLOAD}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="begin_upload",
        tags=["uploads"],
        request=SignedUrlInput,
        responses={201: SignedUrlOutput, **errors(403, 413, 415, 503)},
    )
    def post(self, request: Request) -> Response:
        asked = SignedUrlInput.of_body(request)
        begun = uploads.begin_upload(
            self.access,
            filename=asked["filename"],
            media_type=asked["mime_type"],
            size=asked["size"],
        )
        answer = SignedUrlOutput(begun, context={"request": request})
        return Response(answer.data, status=status.HTTP_201_CREATED)


class FinishInput(Input):
    """The file that was put, and how its item should be."""

    upload_id = Id()
    title = Text(
        required=False, shortest=1, longest=MAX_TITLE, help_text="Else what the file says it is."
    )
    in_kb = Flag(default=True, help_text="Make it searchable.")
    auto_transform = Flag(default=False, help_text="Also have it summed up.")
    tags = Tags(default=list)
    folder_id = Id(
        required=False, allow_null=True, help_text="A folder within reach to file it in."
    )


class FinalizeView(AskView):
    """The last step for audio and video: make an item of the file that was put."""

    asks = {"POST": Ask.FINISH_UPLOAD}
    toolsets = LIBRARY
    kinds = uploads.RECORDINGS

    @extend_schema(
        operation_id="finish_upload",
        tags=["uploads"],
        request=FinishInput,
        responses={201: AddOutput, **errors(402, 403, 404, 409, 415, 422, 503)},
    )
    def post(self, request: Request) -> Response:
        asked = FinishInput.of_body(request)
        upload_id = asked.pop("upload_id")
        added = adding_files.finish_upload(self.access, upload_id, kinds=self.kinds, **asked)
        return Response(answer_as(AddOutput, added), status=status.HTTP_201_CREATED)


class FinalizeDocumentView(FinalizeView):
    """The last step for PDF, images, Office documents, web pages, Markdown and text."""

    kinds = uploads.DOCUMENTS

    @extend_schema(
        operation_id="finish_document_upload",
        tags=["uploads"],
        request=FinishInput,
        responses={201: AddOutput, **errors(403, 404, 409, 415, 422, 503)},
    )
    def post(self, request: Request) -> Response:
        return super().post(request)


def absolute_url(request: Request, url: str) -> str:
    """A path of this server as its callers reach it; a bucket's address is whole already."""
    if not url.startswith("/"):
        return url
    if settings.QUARRY_PUBLIC_URL:
        return f"{settings.QUARRY_PUBLIC_URL}{url}"
    return request.build_absolute_uri(url)
