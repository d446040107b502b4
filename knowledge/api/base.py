"""What the REST views share: who is asking, strict input, and the documented errors."""

from typing import Any, Protocol, TypeVar, cast
from uuid import UUID

from django.core.validators import MaxValueValidator, MinValueValidator
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from knowledge.access import Access
from knowledge.errors import NotFound
from knowledge.validation import as_id

InputT = TypeVar("InputT", bound="Input")


class _Credential(Protocol):
    access: Access


class AskView(APIView):
    """A view that answers asks. `asks` names each method's, for its limit and its record."""

    asks: dict[str, str] = {}

    @property
    def access(self) -> Access:
        return cast(_Credential, self.request.auth).access


class Input(serializers.Serializer[Any]):
    """What a caller may send; a field that is not known is a mistake worth telling."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := set(data) - set(self.fields)):
            known = ", ".join(self.fields)
            raise serializers.ValidationError(
                dict.fromkeys(sorted(unknown), f"is not known here; known are: {known}.")
            )
        return super().to_internal_value(data)

    @classmethod
    def of_query(cls, request: Request) -> dict[str, Any]:
        # Read as JSON would be: a form's rules make an absent flag false.
        fields = cls().fields
        given = request.query_params
        return cls._checked(
            {
                name: given.getlist(name)
                if isinstance(fields.get(name), serializers.ListField)
                else given[name]
                for name in given
            }
        )

    @classmethod
    def of_body(cls, request: Request) -> dict[str, Any]:
        return cls._checked(request.data)

    @classmethod
    def _checked(cls, data: Any) -> dict[str, Any]:
        serializer = cls(data=data)
        serializer.is_valid(raise_exception=True)
        return cast(dict[str, Any], serializer.validated_data)


class OneOf(serializers.ChoiceField):
    """A choice whose refusal names what there is to choose from."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:
        super().__init__(choices, **kwargs)
        self.error_messages["invalid_choice"] = f"must be one of: {', '.join(self.choices)}."


class WholeNumber(serializers.IntegerField):
    """A number whose refusal names the whole range."""

    def __init__(self, *, min_value: int, max_value: int, **kwargs: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **kwargs)
        rule = f"must be between {min_value} and {max_value}."
        for validator in self.validators:
            if isinstance(validator, (MinValueValidator, MaxValueValidator)):
                validator.message = rule


class ErrorOutput(serializers.Serializer[Any]):
    """Every error: its code, what to do next, and the id to quote."""

    error = serializers.CharField()
    message = serializers.CharField()
    request_id = serializers.CharField()


def errors(*statuses: int) -> dict[int, OpenApiResponse]:
    """The documented errors of a route: those of every route, and these."""
    return {
        status: OpenApiResponse(ErrorOutput, description=_MEANINGS[status])
        for status in sorted({400, 401, 429, *statuses})
    }


_MEANINGS = {
    400: "An argument is missing, malformed or out of range; `field` names it.",
    401: "No token, or one that is unknown, expired or revoked.",
    403: "The token may not do this.",
    404: "No such thing, or it is out of this token's reach.",
    409: "The name is taken, or the state does not allow it.",
    413: "The body is too large.",
    422: "The source could not be read.",
    429: "The hour's calls are used; `retry_after_sec` says when there are more.",
    503: "A model or vendor that this needs does not answer.",
}


def path_id(value: str) -> UUID:
    return as_id(value, field="id")


class NoSuchRoute(APIView):
    """Whatever else is asked for below /api/v1: an error in the same envelope as any other."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("There is no such route; /api/v1/docs/ lists those there are.")
