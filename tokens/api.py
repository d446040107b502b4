"""REST for tokens: a signed-in person mints and revokes them; a token may only see itself."""

from collections.abc import Mapping
from typing import Any, NoReturn, cast

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.access import Capability
from knowledge.api.base import AskView, Input, answer_as, errors, path_id
from knowledge.api.fields import Flag, Id, ListOf, OneOf, Text, WholeNumber
from knowledge.api.shapes import QuotaOutput
from knowledge.api.toolsets import EVERY_TOKEN
from knowledge.asks import Ask
from knowledge.errors import CapabilityDenied, MissingToken
from tokens.identity import whoami
from tokens.limits import Allowance
from tokens.minting import DEFAULT_DAYS, MAX_DAYS, TokenRequest, mint_token, revoke_token
from tokens.models import Token, Toolset, default_toolsets


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Tells the OpenAPI document, and with it the docs page, how to send a token."""

    target_class = "tokens.rest.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token: `qry_…`."}


class AllowanceOutput(serializers.Serializer[Any]):
    limit = serializers.IntegerField()
    remaining = serializers.IntegerField()
    reset_sec = serializers.IntegerField()


class AllowancesOutput(serializers.DictField):
    """Allowances by the name of their ask: numbers of our own, which need no second look."""

    child = AllowanceOutput()

    def to_representation(self, value: Mapping[str, Allowance]) -> dict[str, dict[str, int]]:
        return {
            name: {"limit": each.limit, "remaining": each.remaining, "reset_sec": each.reset_sec}
            for name, each in value.items()
        }


class FolderNameOutput(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()


class WhoAmIOutput(serializers.Serializer[Any]):
    name = serializers.CharField()
    agent_id = serializers.CharField()
    owner = serializers.CharField()
    capabilities = serializers.ListField(
        child=serializers.ChoiceField([str(each) for each in Capability])
    )
    toolsets = serializers.ListField(child=serializers.ChoiceField(Toolset.choices))
    is_unscoped = serializers.BooleanField()
    folders = FolderNameOutput(many=True)
    kb_only = serializers.BooleanField()
    expires_at = serializers.DateTimeField()
    limits = AllowancesOutput()
    quota = serializers.DictField(child=QuotaOutput())


class WhoAmIView(AskView):
    """What a token may do, and what is left of its limits."""

    asks = {"GET": Ask.WHOAMI}
    toolsets = EVERY_TOKEN

    @extend_schema(
        operation_id="whoami", tags=["tokens"], responses={200: WhoAmIOutput, **errors()}
    )
    def get(self, request: Request) -> Response:
        return Response(answer_as(WhoAmIOutput, whoami(cast(Token, request.auth))))


class TokenInput(Input):
    """What a token should be; nothing in it can be widened later."""

    name = Text(shortest=1, longest=100)
    is_unscoped = Flag(default=False, help_text="Reach the whole library.")
    folder_ids = ListOf(child=Id(), default=list, most=1000)
    can_write = Flag(default=False)
    kb_only = Flag(default=False)
    toolsets = ListOf(child=OneOf(Toolset.choices), default=default_toolsets, fewest=1, most=20)
    expires_days = WholeNumber(default=DEFAULT_DAYS, min_value=1, max_value=MAX_DAYS)


class TokenOutput(serializers.ModelSerializer[Token]):
    folder_ids: serializers.PrimaryKeyRelatedField[Any] = serializers.PrimaryKeyRelatedField(
        source="folders", many=True, read_only=True
    )
    state = serializers.CharField(read_only=True)

    class Meta:
        model = Token
        fields = [
            "id",
            "name",
            "agent_id",
            "prefix",
            "can_write",
            "is_unscoped",
            "folder_ids",
            "kb_only",
            "toolsets",
            "state",
            "created_at",
            "expires_at",
            "last_used_at",
        ]
        read_only_fields = fields


class MintedTokenOutput(TokenOutput):
    token = serializers.CharField(read_only=True, help_text="The secret, shown this once.")

    class Meta(TokenOutput.Meta):
        fields = [*TokenOutput.Meta.fields, "token"]
        read_only_fields = fields


class TokensOutput(serializers.Serializer[Any]):
    tokens = TokenOutput(many=True)


class SessionView(AskView):
    """For a signed-in person only: a token cannot mint, list or revoke tokens."""

    authentication_classes = (SessionAuthentication,)

    def permission_denied(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        if "Authorization" in request.headers:
            raise CapabilityDenied(
                "A token cannot manage tokens; sign in as a person and open the page Connections.",
                required=["session"],
                have=[],
            )
        raise MissingToken("Sign in to the admin first; this is for people, not for tokens.")

    @property
    def caller(self) -> str:
        return f"person:{self.person.pk}"

    @property
    def person(self) -> User:
        return cast(User, self.request.user)


class TokensView(SessionView):
    """A person's own tokens."""

    shows_secret = True

    @extend_schema(
        operation_id="list_tokens", tags=["tokens"], responses={200: TokensOutput, **errors(403)}
    )
    def get(self, request: Request) -> Response:
        tokens = Token.objects.of_owner(self.person.pk).prefetch_related("folders")
        return Response(answer_as(TokensOutput, {"tokens": tokens}))

    @extend_schema(
        operation_id="mint_token",
        tags=["tokens"],
        request=TokenInput,
        responses={201: MintedTokenOutput, **errors(403)},
    )
    def post(self, request: Request) -> Response:
        asked = TokenInput.of_body(request)
        folder_ids = asked.pop("folder_ids")
        is_unscoped = asked.pop("is_unscoped")
        token, secret = mint_token(
            self.person, TokenRequest(folder_ids=None if is_unscoped else folder_ids, **asked)
        )
        body = {**answer_as(TokenOutput, token), "token": secret}
        return Response(body, status=status.HTTP_201_CREATED)


class TokenView(SessionView):
    """One of a person's tokens."""

    @extend_schema(
        operation_id="revoke_token", tags=["tokens"], responses={204: None, **errors(403, 404)}
    )
    def delete(self, request: Request, token_id: str) -> Response:
        revoke_token(self.person.pk, path_id(token_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
