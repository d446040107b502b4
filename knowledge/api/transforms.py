from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.shapes import TransformOutput
from knowledge.api.toolsets import LIBRARY
from knowledge.asks import Ask
from knowledge.ingest import transforms


class TransformInput(Input):
    """Nothing: the item is named by the path."""


class ItemTransformView(AskView):
    """An item's summary."""

    asks = {"POST": Ask.TRANSFORM}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="transform_item",
        tags=["items"],
        request=TransformInput,
        responses={202: TransformOutput, **errors(403, 404, 409, 413, 415, 503)},
    )
    def post(self, request: Request, item_id: str) -> Response:
        TransformInput.of_body(request)
        transform = transforms.transform_item(self.access, path_id(item_id))
        return Response(answer_as(TransformOutput, transform), status=status.HTTP_202_ACCEPTED)
