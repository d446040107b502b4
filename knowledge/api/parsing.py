"""Bodies and answers are JSON in UTF-8, whatever charset the headers name."""

import json
from typing import Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import JSONParser

from knowledge.budgets import JSON_VALUES
from knowledge.errors import PayloadTooLarge
from knowledge.text.json_size import count_values


class JSONBody(JSONParser):
    """JSON as RFC 8259 has it: UTF-8, without NaN, and not nested without end."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        body = stream.read()
        refuse_crowded_json(body)
        try:
            return json.loads(body.decode(), parse_constant=_refuse_constant)
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}.") from None


def refuse_crowded_json(body: bytes) -> None:
    """Refuse a body of so many values that parsing it would keep other callers waiting."""
    if count_values(body, JSON_VALUES.most) > JSON_VALUES.most:
        raise PayloadTooLarge(
            f"The body may have at most {JSON_VALUES.most:,} values; send it in several parts.",
            max_values=JSON_VALUES.most,
        )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


class AlwaysJSON(DefaultContentNegotiation):
    """There is one form of answer, so that no Accept header is turned away."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type
