"""REST for the record of what tokens did: a token sees its own part, its owner all of it."""

from typing import Any, cast
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors
from knowledge.api.errors import STATUSES
from knowledge.api.fields import OneOf, Since, WholeNumber
from knowledge.api.toolsets import EVERY_TOKEN
from knowledge.asks import Ask
from tokens.activity import MAX_PAGE, MAX_PER_PAGE, EventFilter, list_events
from tokens.models import Event, Token

OUTCOMES = ("ok", "replayed", *STATUSES)


class ActivityInput(Input):
    since = Since(required=False)
    outcome = OneOf(OUTCOMES, required=False, help_text="`ok`, or the code of an error.")
    ask = OneOf(sorted(Ask), required=False)
    page = WholeNumber(default=1, min_value=1, max_value=MAX_PAGE)
    per_page = WholeNumber(default=20, min_value=1, max_value=MAX_PER_PAGE)


class EventOutput(serializers.ModelSerializer[Event]):
    """One call: never what it said, never the secret."""

    token_id = serializers.UUIDField(read_only=True, allow_null=True)
    ask = serializers.CharField(source="action", read_only=True)
    target = serializers.CharField(
        read_only=True, help_text="The id of what it was about; empty where there is no one thing."
    )

    class Meta:
        model = Event
        fields = [
            *("at", "token_id", "edge", "ask", "target", "outcome", "latency_ms", "request_id")
        ]
        read_only_fields = fields


class EventPageOutput(serializers.Serializer[Any]):
    events = EventOutput(many=True)
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    per_page = serializers.IntegerField()


class ActivityView(AskView):
    """What a token did, newest first; a signed-in person sees what all of theirs did."""

    asks = {"GET": Ask.ACTIVITY}
    toolsets = EVERY_TOKEN
    reads_query = frozenset({"GET"})

    @extend_schema(
        operation_id="list_activity",
        tags=["tokens"],
        parameters=[ActivityInput],
        responses={200: EventPageOutput, **errors()},
    )
    def get(self, request: Request) -> Response:
        asked = ActivityInput.of_query(request)
        page, per_page = asked.pop("page"), asked.pop("per_page")
        found = list_events(
            cast(int, request.user.pk),
            self._token_id,
            EventFilter(**asked),
            page=page,
            per_page=per_page,
        )
        return Response(answer_as(EventPageOutput, found))

    @property
    def _token_id(self) -> UUID | None:
        token = self.request.auth
        return token.pk if isinstance(token, Token) else None

    def get_authenticators(self) -> list[BaseAuthentication]:
        """The token, if one is sent; otherwise the person who is signed in."""
        request = self.request
        if getattr(self, "swagger_fake_view", False) or "Authorization" in request.headers:
            return super().get_authenticators()
        if request.user.is_authenticated:
            return [SessionAuthentication()]
        return super().get_authenticators()
