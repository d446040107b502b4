"""Tools as typed functions: the signature is the input schema, the return type the output's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, getdoc, signature
from typing import Any, TypeVar, cast, get_type_hints

from mcp_types import Tool as ToolDefinition
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model
from pydantic.fields import FieldInfo

from knowledge.access import Access, Capability
from knowledge.asks import Ask
from knowledge.errors import InvalidInput
from knowledge.validation import UNBROKEN_TEXT
from mcp_gateway.payloads.base import Payload
from mcp_gateway.printing import printable
from mcp_gateway.schemas import input_schema, output_schema
from tokens.models import Token, Toolset

FunctionT = TypeVar("FunctionT", bound=Callable[..., Payload])

SECONDS = 30
"""The longest that a call may take, unless its tool says otherwise."""

_STRICT = ConfigDict(strict=True, extra="forbid")
_KINDS = {
    "int_type": "an integer",
    "float_type": "a number",
    "dict_type": "an object",
    "string_type": "a string",
    "bool_type": "true or false",
    "list_type": "a list",
    "string_unicode": UNBROKEN_TEXT,
}

TOOLS: dict[tuple[Toolset, str], "Tool"] = {}
"""Every tool by its toolset and name, in the order in which they are listed.

Of two with one name, a token that has both toolsets is shown the one that comes first.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that agents may call, and what a token needs for it."""

    function: Callable[..., Payload]
    toolset: Toolset
    ask: Ask
    seconds: int
    arguments: type[BaseModel]
    definition: ToolDefinition

    def is_shown_to(self, token: Token) -> bool:
        return self.toolset in token.toolsets and self.ask.needs in token.capabilities

    def require(self, token: Token) -> None:
        """Refuse a token that is not shown this tool."""
        token.require_toolset(str(self.toolset))
        token.access.require(self.ask.needs)

    def prepare(self, token: Token, arguments: Mapping[str, Any]) -> Callable[[], Payload]:
        """The function with its arguments checked, to be run as this token."""
        checked = self._check_arguments(arguments)
        given = {name: getattr(checked, name) for name in type(checked).model_fields}
        return partial(self.function, _first_argument(self.function, token), **given)

    def _check_arguments(self, arguments: Mapping[str, Any]) -> BaseModel:
        try:
            return self.arguments.model_validate(
                {name: _whole(value) for name, value in arguments.items()}
            )
        except ValidationError as error:
            raise self._explain(error) from None

    def _explain(self, error: ValidationError) -> InvalidInput:
        """The first thing wrong, in a sentence that says what is allowed."""
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = printable(str(first["loc"][0])) if first["loc"] else "arguments"
        known = list(self.arguments.model_fields)
        if first["type"] == "missing":
            return InvalidInput(f"{field} is required.", field=field)
        if first["type"] == "extra_forbidden":
            return InvalidInput(
                f"{field} is not an argument of {self.definition.name}; "
                f"it takes: {', '.join(known) or 'nothing'}.",
                field=field,
                allowed=known,
            )
        whose = f"Each of {field}" if len(first["loc"]) > 1 else field
        kind = _KINDS.get(first["type"], "of its type in the tool's schema")
        return InvalidInput(f"{whose} must be {kind}.", field=field)


def tool(
    toolset: Toolset,
    *,
    title: str,
    ask: Ask,
    is_open_world: bool = False,
    seconds: int = SECONDS,
) -> Callable[[FunctionT], FunctionT]:
    """Make a function a tool; its first parameter is who is asking and stays out of the schema."""

    def register(function: FunctionT) -> FunctionT:
        arguments = _arguments_of(function)
        is_read = ask.needs == Capability.READ
        definition = ToolDefinition(
            name=function.__name__,
            title=title,
            description=" ".join((getdoc(function) or "").split()),
            input_schema=input_schema(arguments),
            output_schema=output_schema(get_type_hints(function)["return"]),
            annotations=ToolAnnotations(
                read_only_hint=is_read,
                destructive_hint=False,
                idempotent_hint=is_read,
                open_world_hint=is_open_world,
            ),
        )
        TOOLS[toolset, function.__name__] = Tool(
            function=function,
            toolset=toolset,
            ask=ask,
            seconds=seconds,
            arguments=arguments,
            definition=definition,
        )
        return function

    return register


def schema_field(description: str | None = None, **rules: JsonValue) -> FieldInfo:
    """A parameter as the schema shows it. Its rules are checked by the domain, in its own words."""
    return cast(FieldInfo, Field(description=description, json_schema_extra=rules))


def tool_named(name: str, token: Token) -> Tool:
    """The tool of that name, in this token's toolsets if it is; an unknown one is a mistake."""
    named = tools_named(name)
    if not named:
        raise InvalidInput(
            f"There is no tool {printable(name)}; tools/list names those there are.", field="name"
        )
    return next((tool for tool in named if tool.toolset in token.toolsets), named[0])


def tools_named(name: str) -> list[Tool]:
    """The tools of that name, one for each toolset that has it."""
    return [tool for (_, each), tool in TOOLS.items() if each == name]


def tools_shown_to(token: Token) -> list[ToolDefinition]:
    """What this token may call, always in the same order."""
    shown: dict[str, ToolDefinition] = {}
    for (_, name), tool in TOOLS.items():
        if tool.is_shown_to(token):
            shown.setdefault(name, tool.definition)
    return list(shown.values())


def seconds_for(name: str) -> int:
    """How long a call of that tool may take."""
    return max((tool.seconds for tool in tools_named(name)), default=SECONDS)


def ask_of_tool(name: str) -> Ask | None:
    """What a call of that tool asks for; None if there is no such tool."""
    return next((tool.ask for tool in tools_named(name)), None)


def tool_input_schema(name: str) -> Mapping[str, Any] | None:
    named = tools_named(name)
    return named[0].definition.input_schema if named else None


def _arguments_of(function: Callable[..., Payload]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    _who, *parameters = signature(function).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is Parameter.empty else parameter.default,
        )
        for parameter in parameters
    }
    return create_model(f"{function.__name__}_arguments", __config__=_STRICT, **fields)


def _whole(value: Any) -> Any:
    """To JSON, 5 and 5.0 are one number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _first_argument(function: Callable[..., Payload], token: Token) -> Access | Token:
    who = next(iter(signature(function).parameters.values()))
    return token if who.annotation is Token else token.access
