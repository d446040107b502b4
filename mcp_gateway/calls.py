"""One call from end to end, as a plain function: token, limit, tool, record."""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, TypeVar

from mcp_types import (
    CompleteRequestParams,
    Completion,
    GetPromptResult,
    ListResourcesResult,
    PromptMessage,
    TextContent,
    TextResourceContents,
)
from mcp_types import Prompt as PromptDefinition
from mcp_types import Tool as ToolDefinition

from knowledge.errors import InvalidId, QuarryError
from knowledge.progress import Listener, heard_by
from knowledge.validation import as_id
from mcp_gateway import completions, prompts, resources
from mcp_gateway import tools as _tools  # noqa: F401 (registers them)
from mcp_gateway.identity import Caller
from mcp_gateway.payloads.base import Payload
from mcp_gateway.registry import tool_named, tools_shown_to
from mcp_gateway.threads import was_stopped
from tokens.activity import record
from tokens.authentication import authenticate
from tokens.limits import spending
from tokens.models import Token

T = TypeVar("T")

_NAMED = ("item_id", "id", "entity_id", "unit_id", "source_id")
"""The arguments by which callers name what a tool is to work on."""

_ABOUT = ("user_item_id", "id", "source_id")
"""The fields in which an answer names what was read or made."""


def list_tools(caller: Caller) -> list[ToolDefinition]:
    """What the caller may call."""
    return tools_shown_to(authenticate(caller.secret))


def call_tool(
    caller: Caller,
    name: str,
    arguments: Mapping[str, Any],
    listener: Listener | None = None,
) -> Payload:
    """Run a tool for the caller; every call of a known tool is counted and recorded."""
    token = authenticate(caller.secret)
    tool = tool_named(name, token)

    def run() -> Payload:
        tool.require(token)
        with heard_by(listener):
            return tool.call(token, arguments)

    return _recorded(caller, token, tool.ask, run, target=_asked_for(arguments))


def list_resources(caller: Caller, cursor: str | None) -> ListResourcesResult:
    """A page of what the caller may read by address."""
    token = authenticate(caller.secret)
    work = resources.list_resources
    return _recorded(caller, token, "list_recent", lambda: work(token.access, cursor))


def read_resource(caller: Caller, uri: str) -> TextResourceContents:
    """The text behind an address."""
    token = authenticate(caller.secret)
    address = resources.address_of(uri)
    return _recorded(
        caller,
        token,
        address.ask,
        lambda: resources.read_resource(token.access, uri),
        target=str(address.item_id or ""),
    )


def list_prompts(caller: Caller) -> list[PromptDefinition]:
    """The workflows that the caller is offered."""
    return prompts.prompts_shown_to(authenticate(caller.secret))


def get_prompt(caller: Caller, name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """A workflow in words, with what the caller gave in them."""
    token = authenticate(caller.secret)
    prompt = prompts.prompt_named(name)
    words = _recorded(caller, token, "list_folders", lambda: prompt.words_for(token, arguments))
    return GetPromptResult(
        description=prompt.definition.description,
        messages=[PromptMessage(role="user", content=TextContent(text=words))],
    )


def complete(caller: Caller, params: CompleteRequestParams) -> Completion:
    """What an argument may be, among what the caller sees."""
    token = authenticate(caller.secret)
    ask = completions.ask_of(params)
    return _recorded(caller, token, ask, lambda: completions.complete(token.access, params))


def _recorded(
    caller: Caller, token: Token, ask: str, work: Callable[[], T], *, target: str = ""
) -> T:
    started = perf_counter()
    outcome = "internal_error"
    try:
        with spending(token, ask):
            answer = work()
        outcome = "ok"
        target = _made(answer) or target
        return answer
    except QuarryError as error:
        outcome = error.code
        raise
    finally:
        if was_stopped() and outcome == "internal_error":
            outcome = "stopped"
        record(
            token,
            edge=caller.edge,
            action=ask,
            target=target,
            outcome=outcome,
            latency_ms=(perf_counter() - started) * 1000,
            request_id=caller.request_id,
        )


def _made(answer: object) -> str:
    """What the answer is about, if it is one thing."""
    found = (getattr(answer, name, None) for name in _ABOUT)
    return next((str(each) for each in found if each), "")


def _asked_for(arguments: Mapping[str, Any]) -> str:
    """What the caller named, if that is an identifier: nothing else goes into the record."""
    named = next((arguments[name] for name in _NAMED if name in arguments), "")
    try:
        return str(as_id(named, field="item_id"))
    except InvalidId:
        return ""
