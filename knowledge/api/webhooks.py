from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.fields import ListOf, OneOf, Text
from knowledge.api.toolsets import LIBRARY
from knowledge.asks import Ask
from knowledge.ledger import webhooks
from knowledge.models import Webhook, WebhookEvent


class WebhookInput(Input):
    """An address to tell, and of what."""

    url = Text(shortest=1, longest=webhooks.MAX_WEBHOOK_URL)
    events = ListOf(
        child=OneOf(WebhookEvent.choices),
        required=False,
        fewest=1,
        help_text="Every event unless given.",
    )


class WebhookOutput(serializers.ModelSerializer[Webhook]):
    events = serializers.ListField(
        child=serializers.ChoiceField(WebhookEvent.choices), read_only=True
    )

    class Meta:
        model = Webhook
        fields = ["id", "url", "events", "is_active", "created_at"]
        read_only_fields = fields


class NewWebhookOutput(WebhookOutput):
    """With the secret, which is shown this once."""

    class Meta(WebhookOutput.Meta):
        fields = [*WebhookOutput.Meta.fields, "secret"]
        read_only_fields = fields


class WebhookListOutput(serializers.Serializer[Any]):
    webhooks = WebhookOutput(many=True)


class WebhooksView(AskView):
    """The addresses that are told what became of items."""

    asks = {"GET": Ask.WEBHOOKS, "POST": Ask.WEBHOOKS}
    toolsets = LIBRARY
    shows_secret = True

    @extend_schema(
        operation_id="list_webhooks",
        tags=["webhooks"],
        responses={200: WebhookListOutput, **errors(403)},
    )
    def get(self, request: Request) -> Response:
        found = webhooks.list_webhooks(self.access)
        return Response(answer_as(WebhookListOutput, {"webhooks": found}))

    @extend_schema(
        operation_id="create_webhook",
        tags=["webhooks"],
        request=WebhookInput,
        responses={201: NewWebhookOutput, **errors(403, 409)},
    )
    def post(self, request: Request) -> Response:
        webhook = webhooks.create_webhook(self.access, **WebhookInput.of_body(request))
        return Response(answer_as(NewWebhookOutput, webhook), status=status.HTTP_201_CREATED)


class WebhookView(AskView):
    """One webhook: delete it."""

    asks = {"DELETE": Ask.WEBHOOKS}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="delete_webhook", tags=["webhooks"], responses={204: None, **errors(403, 404)}
    )
    def delete(self, request: Request, webhook_id: str) -> Response:
        webhooks.delete_webhook(self.access, path_id(webhook_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
