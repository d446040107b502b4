import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, cast

from django.http import HttpRequest, StreamingHttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.fields import Text
from knowledge.api.originals import RANGE, send_file
from knowledge.api.streaming import stream
from knowledge.api.toolsets import LIBRARY
from knowledge.api.uploads import absolute_url
from knowledge.asks import Ask
from knowledge.errors import InvalidInput, PayloadTooLarge, UnsupportedMedia
from knowledge.exchange import actors, archive_imports, exports, importing
from knowledge.ingest import uploads
from knowledge.models import ArchiveState, Export, ExportState

ZIP = "application/zip"
FILENAME = "quarry-export.zip"
_PIECE = 1024 * 1024


class ExportOutput(serializers.Serializer[Any]):
    """An export that is being made, or is made."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(ExportState.choices)
    items_done = serializers.IntegerField(help_text="How many items are written so far.")
    items_total = serializers.IntegerField()
    size = serializers.IntegerField(help_text="Of the file, in bytes; 0 until it is ready.")
    error = serializers.CharField(help_text="Why it failed; empty unless it did.")
    file_url = serializers.SerializerMethodField(
        help_text="Where to download it within 15 minutes, without a token; null until it is ready."
    )
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="The file is removed then.")

    def get_file_url(self, export: Export) -> str | None:
        if export.state != ExportState.READY:
            return None
        path = reverse("library_api:export-file", args=[export.pk])
        signed = f"{path}?{urlencode({'signature': exports.sign_export(export)})}"
        return absolute_url(self.context["request"], signed)


class ExportFileInput(Input):
    signature = Text(shortest=1, longest=200)


class ExportView(AskView):
    """All that the token sees, as one archive: to read, to keep, or to import elsewhere."""

    asks = {"GET": Ask.EXPORT, "POST": Ask.EXPORT}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="export_library",
        tags=["exchange"],
        responses={
            (200, ZIP): OpenApiResponse(
                OpenApiTypes.BINARY, "Markdown files, `items.csv`, and JSONL for an import."
            ),
            **errors(403, 409),
        },
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """A small library at once; a larger one is 409, and `POST` makes a file of it."""
        Input.of_query(request)
        return send_archive(exports.export_small(self.access))

    @extend_schema(
        operation_id="start_export",
        tags=["exchange"],
        request=None,
        responses={202: ExportOutput, **errors(403, 409)},
    )
    def post(self, request: Request) -> Response:
        """Have a file made of all that the token sees, by a job."""
        Input.of_body(request)
        export = actors.start_export(self.access)
        answer = ExportOutput(export, context={"request": request})
        return Response(answer.data, status=status.HTTP_202_ACCEPTED)

    def head(self, request: Request) -> StreamingHttpResponse:
        """What GET says before its body, which is not made for it."""
        return send_archive(iter(()))


class ExportStateView(AskView):
    """How far an export is, and the link to its file once there is one."""

    asks = {"GET": Ask.EXPORTS}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="get_export",
        tags=["exchange"],
        responses={200: ExportOutput, **errors(404)},
    )
    def get(self, request: Request, export_id: str) -> Response:
        export = exports.get_export(self.access, path_id(export_id))
        return Response(ExportOutput(export, context={"request": request}).data)


class ExportFileView(AskView):
    """The file of an export: whoever has the signed link may download it, without a token."""

    authentication_classes = ()
    permission_classes = ()
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="download_export",
        tags=["exchange"],
        auth=[],
        parameters=[
            OpenApiParameter(
                "signature", str, required=True, description="As in the link; good for 15 minutes."
            ),
            RANGE,
        ],
        responses={
            (200, ZIP): OpenApiResponse(OpenApiTypes.BINARY, "The archive, as `GET /export`."),
            (206, ZIP): OpenApiResponse(OpenApiTypes.BINARY, "The range that was asked for."),
            **errors(404, 409),
        },
    )
    def get(self, request: Request, export_id: str) -> StreamingHttpResponse:
        return self._answer(request, export_id, is_head=False)

    def head(self, request: Request, export_id: str) -> StreamingHttpResponse:
        """What GET says before its body, which is not read for it."""
        return self._answer(request, export_id, is_head=True)

    def _answer(self, request: Request, export_id: str, *, is_head: bool) -> StreamingHttpResponse:
        signature = ExportFileInput.of_query(request)["signature"]
        found = exports.open_signed(path_id(export_id), signature)
        return send_export(request, found, is_head=is_head)


class ProblemOutput(serializers.Serializer[Any]):
    file = serializers.CharField(help_text="The member of the archive.")
    line = serializers.IntegerField(help_text="Of that member, from 1; 0 where none can be told.")
    message = serializers.CharField()


class ImportOutput(serializers.Serializer[Any]):
    """How far an import is: how much is new, was there already, or could not be taken."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(ArchiveState.choices)
    items_done = serializers.IntegerField(help_text="Items of the archive that are seen to.")
    items_total = serializers.IntegerField(help_text="As the archive says; 0 until it is opened.")
    error = serializers.CharField(help_text="Why it failed; empty unless it did.")
    created_at = serializers.DateTimeField()
    folders = serializers.IntegerField()
    contents = serializers.IntegerField()
    items = serializers.IntegerField()
    relations = serializers.IntegerField()
    versions = serializers.IntegerField(help_text="Of skills and knowledge units.")
    sources = serializers.IntegerField(help_text="Documentation sources.")
    feeds = serializers.IntegerField(help_text="Feeds that are followed from now on.")
    highlights = serializers.IntegerField(help_text="Passages that a person marked.")
    saved_searches = serializers.IntegerField()
    skipped = serializers.IntegerField(help_text="Items that were there; they stay as they are.")
    failed = serializers.IntegerField(help_text="Lines that were left out.")
    problems = ProblemOutput(
        many=True, help_text="Those that failed; after a hundred the import stops."
    )


class ImportView(AskView):
    """Add what an exported archive has and the library lacks."""

    asks = {"POST": Ask.IMPORT}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="import_library",
        tags=["exchange"],
        request={ZIP: OpenApiTypes.BINARY},
        responses={202: ImportOutput, **errors(403, 409, 413, 415)},
    )
    def post(self, request: Request) -> Response:
        """Have a job bring the archive in; `GET /imports/{id}` tells how far it is."""
        Input.of_query(request)
        begun = archive_imports.start_import(self.access, Path(self._spooled_body.name))
        return Response(answer_as(ImportOutput, begun.fields), status=status.HTTP_202_ACCEPTED)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        self._spool.close()
        return super().finalize_response(request, response, *args, **kwargs)

    def body_hash(self, request: Request) -> str:
        digest = hashlib.sha256()
        while piece := self._spooled_body.read(_PIECE):
            digest.update(piece)
        self._spooled_body.seek(0)
        return digest.hexdigest()

    def check_welcome(self) -> None:
        """Refuse a caller, or a body, that cannot be taken, before anything is read."""
        self.check_toolset("POST")
        importing.check_may_import(self.access)
        if _bare(self.request.content_type) != ZIP:
            raise UnsupportedMedia(
                f"Send the archive itself as the body, with Content-Type: {ZIP}.", media_type=ZIP
            )
        length = self.request.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > uploads.max_bytes():
            raise too_large()

    @cached_property
    def _spool(self) -> BinaryIO:
        # By name, for it is copied to the file store.
        return cast(BinaryIO, NamedTemporaryFile())

    @cached_property
    def _spooled_body(self) -> BinaryIO:
        """The body as a file; Django has it as a stream that can be read once."""
        self.check_welcome()
        while piece := self.request._request.read(_PIECE):
            self._spool.write(piece)
            if self._spool.tell() > uploads.max_bytes():
                raise too_large()
        if not self._spool.tell():
            raise InvalidInput("The body is empty; send the archive there.", field="body")
        self._spool.seek(0)  # which flushes it too, so that its name leads to all of it
        return self._spool


def too_large() -> PayloadTooLarge:
    """An archive that is larger than any file may be."""
    return PayloadTooLarge(
        f"An archive may have at most {uploads.max_bytes():,} bytes; import a larger one with "
        "manage.py import, or raise QUARRY_MAX_UPLOAD_MB.",
        max_bytes=uploads.max_bytes(),
    )


def _bare(media_type: str | None) -> str:
    return (media_type or "").partition(";")[0].strip().lower()


def send_export(
    request: Request | HttpRequest, found: exports.ExportFile, *, is_head: bool = False
) -> StreamingHttpResponse:
    """A finished export, or the range of it that was asked for."""
    return send_file(
        request,
        found,
        media_type=ZIP,
        filename=FILENAME,
        etag=f'"{found.export.pk.hex}-{found.size}"',
        is_head=is_head,
    )


def send_archive(pieces: Iterator[bytes]) -> StreamingHttpResponse:
    """An export as a file to keep."""
    named = {"Content-Disposition": f'attachment; filename="{FILENAME}"'}
    return stream(pieces, content_type=ZIP, headers=named)
