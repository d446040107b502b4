from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, answer_as, errors
from knowledge.api.shapes import QuotaOutput
from knowledge.api.toolsets import EVERY_TOKEN
from knowledge.asks import Ask
from knowledge.ledger import quotas


class MonthOutput(serializers.Serializer[Any]):
    month = serializers.DateField(help_text="Its first day.")
    used = serializers.FloatField(help_text="Minutes of transcription.")
    reserved = serializers.FloatField(help_text="Minutes set aside for work under way.")
    transforms = serializers.IntegerField()
    answers = serializers.IntegerField(help_text="Questions answered on the page Ask.")
    answers_cost_usd = serializers.FloatField(help_text="What those answers cost.")


class UsageOutput(serializers.Serializer[Any]):
    quota = QuotaOutput()
    this_month = MonthOutput()
    earlier = MonthOutput(many=True, help_text="Newest first, at most two years.")


class UsageView(AskView):
    """What the token's owner has used, month by month."""

    asks = {"GET": Ask.USAGE}
    toolsets = EVERY_TOKEN

    @extend_schema(
        operation_id="get_usage", tags=["usage"], responses={200: UsageOutput, **errors()}
    )
    def get(self, request: Request) -> Response:
        return Response(answer_as(UsageOutput, quotas.usage_of(self.access)))
