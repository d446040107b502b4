"""Bodies and answers are JSON in UTF-8, whatever charset the headers name."""

import json
from typing import Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import JSONParser


class JSONBody(JSONParser):
    """JSON as RFC 8259 has it: UTF-8, without NaN, and not nested without end."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            return json.loads(stream.read().decode(), parse_constant=_refuse_constant)
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


class AlwaysJSON(DefaultContentNegotiation):
    """There is one form of answer, so that no Accept header is turned away."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type
