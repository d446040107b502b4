"""What the REST views share: who is asking, calls that may be repeated, and strict input."""

import hashlib
import json
from functools import cache
from typing import Any, Protocol, cast
from uuid import UUID

from django.http.request import RawPostDataException
from rest_framework import serializers, status
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from knowledge.access import Access
from knowledge.api.openapi_docs import errors
from knowledge.asks import Ask
from knowledge.errors import Conflict, InvalidInput, NotFound, UnsupportedMedia
from knowledge.ledger import idempotency
from knowledge.models import IdempotencyRecord
from knowledge.validation import as_id

__all__ = ["AskView", "Input", "NoSuchRoute", "answer_as", "errors", "path_id"]


class _Credential(Protocol):
    access: Access

    def require_toolset(self, *names: str) -> None: ...


class RepeatedCall(Exception):
    """This call was answered before; nothing is to be done but to say the same again."""

    def __init__(self, record: IdempotencyRecord) -> None:
        super().__init__(record)
        self.record = record


class AskView(APIView):
    """A view that answers asks. `asks` names each method's, for its limit and its record."""

    asks: dict[str, Ask] = {}
    toolsets: tuple[str, ...] = ()
    """Any one of these opens the route to a token; none is needed where there are none."""

    reads_query: frozenset[str] = frozenset()
    """The methods that take parameters in the address; to others each one is unknown."""

    shows_secret = False
    """Whether a POST is answered with a secret, which is shown once and never kept."""

    _record: IdempotencyRecord | None = None

    @property
    def access(self) -> Access:
        return cast(_Credential, self.request.auth).access

    def calls(self, request: Request) -> int:
        """As how many calls of its ask this one counts."""
        return 1

    @property
    def caller(self) -> str:
        """Whose Idempotency-Keys these are."""
        return f"token:{self.access.token_id}"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        method = "GET" if request.method == "HEAD" else str(request.method)
        self.check_toolset(method)
        takes_no_query = hasattr(self, method.lower()) and method not in self.reads_query
        if takes_no_query and request.query_params:
            Input.of_query(request)
        key = request.headers.get("Idempotency-Key")
        if key is None or request.method != "POST":
            return
        record = idempotency.claim(
            caller=self.caller,
            route=request.path[:300],
            key=idempotency.clean_key(key),
            request_hash=self.body_hash(request),
        )
        if record.status is None:
            self._record = record
        elif self._hides(record.status):
            raise Conflict(
                "An earlier call with this Idempotency-Key made this, and its secret was shown "
                "then; if it is lost, delete what was made and send a new key.",
                reason="secret_shown_once",
            )
        else:
            raise RepeatedCall(record)

    def check_toolset(self, method: str) -> None:
        """Refuse a token that lacks the toolset of what it asks for, as MCP does."""
        names = self.toolsets_for(method)
        if method in self.asks and names and self.request.auth is not None:
            cast(_Credential, self.request.auth).require_toolset(*names)

    def toolsets_for(self, method: str) -> tuple[str, ...]:
        return self.toolsets

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, RepeatedCall):
            data = json.loads(exc.record.body)
            headers = {"Idempotent-Replayed": "true"}
            return Response(data, status=exc.record.status, headers=headers)
        return super().handle_exception(exc)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        if self._record is not None:
            idempotency.keep(
                self._record, status=final.status_code, body=self._body_to_store(final)
            )
        return final

    def options(self, request: Request, *args: Any, **kwargs: Any) -> Response:  # type: ignore[override]
        """Which methods there are stands in the header Allow; the rest in the OpenAPI document."""
        return Response(status=status.HTTP_204_NO_CONTENT)

    def body_hash(self, request: Request) -> str:
        """A digest of the body; a repeated call must have the same one."""
        return _hash(request)

    def _body_to_store(self, answer: Response) -> str:
        if self._hides(answer.status_code):
            return ""
        return str(JSONRenderer().render(answer.data), "utf-8")

    def _hides(self, status_code: int) -> bool:
        return self.shows_secret and status_code < 400


class Input(serializers.Serializer[Any]):
    """What a caller may send; a field that is not known is a mistake worth telling."""

    def to_internal_value(self, data: Any) -> Any:
        if unknown := sorted(set(data) - set(self.fields)):
            name = _printable(unknown[0])
            known = list(self.fields)
            raise InvalidInput(
                f"{name} is not known here; known are: {', '.join(known) or 'none'}.",
                field=name,
                allowed=known,
            )
        return super().to_internal_value(data)

    @classmethod
    def of_query(cls, request: Request) -> dict[str, Any]:
        fields = _reader(cls, from_query=True).fields
        given = request.query_params
        values = {
            name: given.getlist(name)
            if isinstance(fields.get(name), serializers.ListField)
            else given[name]
            for name in given
        }
        return cls._validate(values, from_query=True)

    @classmethod
    def of_body(cls, request: Request) -> dict[str, Any]:
        return cls._validate(request.data, from_query=False)

    @classmethod
    def _validate(cls, data: Any, *, from_query: bool) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise InvalidInput("The body must be a JSON object.", field="body")
        return cast(dict[str, Any], _reader(cls, from_query=from_query).run_validation(data))


def answer_as(shape: type[serializers.BaseSerializer[Any]], value: object) -> dict[str, Any]:
    """What an answer of this shape says of a value."""
    return cast(dict[str, Any], _writer(cast(Any, shape)).to_representation(value))


# One serializer of each class serves every call: to copy its fields takes ten times as long as to
# read or write a value by them, and they keep nothing of it.


@cache
def _reader(shape: type[Input], *, from_query: bool) -> Input:
    return shape(context={"from_query": from_query})


@cache
def _writer(shape: Any) -> serializers.BaseSerializer[Any]:
    writer: serializers.BaseSerializer[Any] = shape()
    return writer


def path_id(value: str) -> UUID:
    return as_id(value, field="id")


class NoSuchRoute(APIView):
    """Any other path below /api/v1: not found, in the same envelope as any other error."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("There is no such route; /api/v1/docs/ lists those there are.")


def _hash(request: Request) -> str:
    try:
        body = request._request.body
    except RawPostDataException:  # a form, which nothing here takes, was read on the way
        raise UnsupportedMedia("Send JSON, with Content-Type: application/json.") from None
    return hashlib.sha256(body).hexdigest()


def _printable(name: str) -> str:
    """A caller's own word, safe to repeat in an error: short, and valid Unicode."""
    return name[:60].encode("ascii", "backslashreplace").decode()
