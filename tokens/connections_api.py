"""REST for a signed-in person's OAuth connections: look at them, narrow them, end them."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.base import Input, answer_as, errors, path_id
from knowledge.api.fields import Flag, Id, ListOf, OneOf
from tokens.api import SessionView, TokenOutput
from tokens.models import Token, Toolset
from tokens.oauth import connections
from tokens.oauth.connections import Narrowing


class ConnectionInput(Input):
    """What to leave of a connection; what is not named stays as it is."""

    folder_ids = ListOf(child=Id(), required=False, fewest=1, most=1000)
    can_write = Flag(required=False)
    toolsets = ListOf(child=OneOf(Toolset.choices), required=False, fewest=1, most=20)


class ConnectionOutput(TokenOutput):
    client_id = serializers.CharField(source="client.client_id", read_only=True)
    client_name = serializers.CharField(source="client.name", read_only=True)
    redirect_uris = serializers.SerializerMethodField()

    class Meta(TokenOutput.Meta):
        fields = [
            *(name for name in TokenOutput.Meta.fields if name != "prefix"),
            *("client_id", "client_name", "redirect_uris"),
        ]
        read_only_fields = fields

    def get_redirect_uris(self, token: Token) -> list[str]:
        return token.client.redirect_uris.split() if token.client else []


class ConnectionsOutput(serializers.Serializer[object]):
    connections = ConnectionOutput(many=True)


class ConnectionsView(SessionView):
    """A person's own connections."""

    @extend_schema(
        operation_id="list_connections",
        tags=["tokens"],
        responses={200: ConnectionsOutput, **errors(403)},
    )
    def get(self, request: Request) -> Response:
        rows = connections.own_connections(self.person.pk)
        return Response(answer_as(ConnectionsOutput, {"connections": rows}))


class ConnectionView(SessionView):
    """One of a person's connections."""

    @extend_schema(
        operation_id="get_connection",
        tags=["tokens"],
        responses={200: ConnectionOutput, **errors(403, 404)},
    )
    def get(self, request: Request, token_id: str) -> Response:
        token = connections.own_connection(self.person.pk, path_id(token_id))
        return Response(answer_as(ConnectionOutput, token))

    @extend_schema(
        operation_id="narrow_connection",
        tags=["tokens"],
        request=ConnectionInput,
        responses={200: ConnectionOutput, **errors(403, 404)},
    )
    def patch(self, request: Request, token_id: str) -> Response:
        asked = Narrowing(**ConnectionInput.of_body(request))
        token = connections.narrow(self.person.pk, path_id(token_id), asked)
        return Response(answer_as(ConnectionOutput, token))

    @extend_schema(
        operation_id="revoke_connection",
        tags=["tokens"],
        responses={204: None, **errors(403, 404)},
    )
    def delete(self, request: Request, token_id: str) -> Response:
        connections.revoke(self.person.pk, path_id(token_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
