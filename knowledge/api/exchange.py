import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, cast

from django.http import HttpRequest, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, errors
from knowledge.api.streaming import stream
from knowledge.api.toolsets import LIBRARY
from knowledge.asks import Ask
from knowledge.errors import InvalidInput, PayloadTooLarge, UnsupportedMedia
from knowledge.exchange import archive_imports, exporting, importing
from knowledge.ingest import uploads
from knowledge.models import ArchiveState

ZIP = "application/zip"
_PIECE = 1024 * 1024


class ExportView(AskView):
    """All that the token sees, as one archive: to read, to keep, or to import elsewhere."""

    asks = {"GET": Ask.EXPORT}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="export_library",
        tags=["exchange"],
        responses={
            (200, ZIP): OpenApiResponse(
                OpenApiTypes.BINARY, "Markdown files, `items.csv`, and JSONL for an import."
            ),
            **errors(403),
        },
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        Input.of_query(request)
        return send_archive(request, exporting.export_library(self.access))

    def head(self, request: Request) -> StreamingHttpResponse:
        """What GET says before its body, which is not made for it."""
        return send_archive(request, iter(()))


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
        return Response(ImportOutput(begun.fields).data, status=status.HTTP_202_ACCEPTED)

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


def send_archive(request: Request | HttpRequest, pieces: Iterator[bytes]) -> StreamingHttpResponse:
    """An export as a file to keep."""
    named = {"Content-Disposition": 'attachment; filename="quarry-export.zip"'}
    return stream(request, pieces, content_type=ZIP, headers=named)
