from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, answer_as, errors, path_id
from knowledge.api.exchange import ImportOutput
from knowledge.api.toolsets import LIBRARY
from knowledge.asks import Ask
from knowledge.exchange import archive_imports


class ImportStateView(AskView):
    """An import that the token began: how far it is, or no more of it."""

    asks = {"GET": Ask.IMPORTS, "DELETE": Ask.CANCEL_IMPORT}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="get_import",
        tags=["exchange"],
        responses={200: ImportOutput, **errors(404)},
    )
    def get(self, request: Request, import_id: str) -> Response:
        found = archive_imports.get_import(self.access, path_id(import_id))
        return Response(answer_as(ImportOutput, found.fields))

    @extend_schema(
        operation_id="cancel_import",
        tags=["exchange"],
        responses={200: ImportOutput, **errors(403, 404)},
    )
    def delete(self, request: Request, import_id: str) -> Response:
        """End it; what was added stays. One that is over stays as it is."""
        ended = archive_imports.cancel_import(self.access, path_id(import_id))
        return Response(answer_as(ImportOutput, ended.fields))
