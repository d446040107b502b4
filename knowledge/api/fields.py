"""The fields of what callers send. Types are strict, and refusals are the domain's sentences."""

import re
from collections.abc import Collection
from typing import Any, NoReturn
from uuid import UUID

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.plumbing import build_choice_field
from rest_framework import serializers

from knowledge.errors import InvalidInput
from knowledge.validation import (
    MAX_TAG,
    MAX_TAGS,
    UNBROKEN_TEXT,
    as_id,
    has_lone_surrogate,
    one_of,
    within,
)

SINCE = "An ISO date or datetime, or an age: 7d, 2w, 3m, 1y."
_INTEGER = re.compile(r"[+-]?\d{1,30}")
_NUMBER = re.compile(r"[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?")


class Spoken:
    """A field that refuses as the rest of the product does: its name, then the rule."""

    kind = "of another type"
    shown: dict[str, Any]

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        name, whose = _names(self)
        if key == "required":
            raise InvalidInput(f"{name} is required.", field=name)
        if key == "null":
            raise InvalidInput(f"{whose} must not be null.", field=name)
        raise InvalidInput(f"{whose} must be {self.kind}.", field=name)


class Text(Spoken, serializers.CharField):
    """A string as it came. Its rules are shown to clients here and checked by the domain."""

    kind = "a string"

    def __init__(
        self,
        *,
        shortest: int | None = None,
        longest: int | None = None,
        words: Collection[str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trim_whitespace=False, **kwargs)
        self.validators = []
        self.shown: dict[str, Any] = {
            "type": "string",
            "minLength": shortest,
            "maxLength": longest,
            "pattern": r"\S" if shortest else None,
            "enum": words and list(words),
        }

    def run_validation(self, data: Any = serializers.empty) -> Any:
        # Past the framework's own word on blank strings.
        return serializers.Field.run_validation(self, data)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if has_lone_surrogate(data):
            name, whose = _names(self)
            raise InvalidInput(f"{whose} must be {UNBROKEN_TEXT}.", field=name)
        return data


class Since(Text):
    """A moment as people write them, read by the domain."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(help_text=SINCE, **kwargs)
        self.shown["anyOf"] = [
            {"pattern": "^[0-9]{1,4}[dwmy]$"},
            {"format": "date"},
            {"format": "date-time"},
        ]


class Id(Spoken, serializers.UUIDField):
    """An identifier, read by the domain's own rule."""

    shown = {"type": "string", "format": "uuid"}

    def to_internal_value(self, data: Any) -> UUID:
        return as_id(data, field=_names(self)[0])


class WholeNumber(Spoken, serializers.IntegerField):
    """A number within its range, if it has one."""

    kind = "an integer"

    def __init__(
        self, *, min_value: int | None = None, max_value: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.low, self.high = min_value, max_value
        self.shown = {"type": "integer", "minimum": min_value, "maximum": max_value}

    def to_internal_value(self, data: Any) -> int:
        if is_from_query(self) and isinstance(data, str) and _INTEGER.fullmatch(data):
            data = int(data)
        if isinstance(data, float) and data.is_integer():
            data = int(data)  # to JSON, 5 and 5.0 are one number
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        if self.low is None or self.high is None:
            return data
        return within(data, field=_names(self)[0], low=self.low, high=self.high)


class Number(Spoken, serializers.FloatField):
    """A number within its range, whole or not."""

    kind = "a number"

    def __init__(self, *, min_value: float, max_value: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.low, self.high = min_value, max_value
        self.shown = {"type": "number", "minimum": min_value, "maximum": max_value}

    def to_internal_value(self, data: Any) -> float:
        if is_from_query(self) and isinstance(data, str) and _NUMBER.fullmatch(data):
            data = float(data)
        if not isinstance(data, (int, float)) or isinstance(data, bool):
            self.fail("invalid")
        if not self.low <= data <= self.high:
            name = _names(self)[0]
            raise InvalidInput(
                f"{name} must be between {self.low:g} and {self.high:g}.",
                field=name,
                minimum=self.low,
                maximum=self.high,
            )
        return float(data)


class Object(Spoken, serializers.JSONField):
    """A JSON object, whose keys and values are checked by the domain."""

    kind = "an object"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.shown = {"type": "object", "additionalProperties": True}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data


class Flag(Spoken, serializers.BooleanField):
    kind = "true or false"
    shown = {"type": "boolean"}

    def to_internal_value(self, data: Any) -> bool:
        if is_from_query(self) and isinstance(data, str) and data.lower() in ("true", "false"):
            return data.lower() == "true"
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class OneOf(Spoken, serializers.ChoiceField):
    """A word from a fixed list."""

    kind = "a string"

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return one_of(data, [str(choice) for choice in self.choices], field=_names(self)[0])


class ListOf(Spoken, serializers.ListField):
    kind = "a list"

    def __init__(self, *, most: int | None = None, fewest: int | None = None, **kw: Any) -> None:
        super().__init__(**kw)
        self.most = most
        self.shown = {"type": "array", "minItems": fewest, "maxItems": most}

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list")
        if self.most is not None and len(data) > self.most:
            name = _names(self)[0]
            raise InvalidInput(f"{name} may be at most {self.most}.", field=name)
        return [self.child.run_validation(each) for each in data]


class Entries(ListOf):
    """The entries of a batch as they came: what cannot be read of one refuses that one alone."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list")
        return data


class Tags(ListOf):
    """Words to find an item by; cleaned and counted by the domain."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=Text(shortest=1, longest=MAX_TAG), most=MAX_TAGS, **kwargs)


def is_from_query(field: serializers.Field[Any, Any, Any, Any]) -> bool:
    """Whether numbers and flags arrive as strings, as they do in a query string."""
    return bool(field.context.get("from_query"))


def _names(field: Any) -> tuple[str, str]:
    """The field's name, and the subject of a sentence about it or about one of its values."""
    if field.field_name:
        return field.field_name, field.field_name
    return field.parent.field_name, f"Each of {field.parent.field_name}"


class _Shown(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Puts a field's type and rules into the OpenAPI document."""

    target_class = Spoken
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        field = self.target
        if isinstance(field, OneOf):
            return build_choice_field(field)
        shown = {name: rule for name, rule in field.shown.items() if rule is not None}
        if isinstance(field, ListOf):
            shown["items"] = auto_schema._map_serializer_field(field.child, direction)
        return shown
