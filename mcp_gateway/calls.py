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

from knowledge.asks import Ask
from knowledge.errors import QuarryError
from knowledge.progress import Listener, heard_by
from mcp_gateway import completions, prompts, resources
from mcp_gateway import tools as _tools  # noqa: F401 (registers them)
from mcp_gateway.identity import Caller
from mcp_gateway.payloads.base import Payload
from mcp_gateway.registry import tool_named, tools_shown_to
from mcp_gateway.threads import was_stopped
from tokens.activity import record, target_of
from tokens.authentication import authenticate
from tokens.limits import spending
from tokens.models import Token

T = TypeVar("T")

_NOTHING: Mapping[str, Any] = {}


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

    return _recorded(caller, token, tool.ask, run, named=arguments)


def list_resources(caller: Caller, cursor: str | None) -> ListResourcesResult:
    """A page of what the caller may read by address."""
    token = authenticate(caller.secret)
    work = resources.list_resources
    return _recorded(caller, token, Ask.LIST_RECENT, lambda: work(token.access, cursor))


def read_resource(caller: Caller, uri: str) -> TextResourceContents:
    """The text behind an address."""
    token = authenticate(caller.secret)
    address = resources.address_of(uri)
    return _recorded(
        caller,
        token,
        address.ask,
        lambda: resources.read_resource(token.access, uri),
        named={"item_id": address.item_id},
    )


def list_prompts(caller: Caller) -> list[PromptDefinition]:
    """The workflows that the caller is offered."""
    return prompts.prompts_shown_to(authenticate(caller.secret))


def get_prompt(caller: Caller, name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """A workflow in words, with what the caller gave in them."""
    token = authenticate(caller.secret)
    prompt = prompts.prompt_named(name)
    words = _recorded(caller, token, Ask.LIST_FOLDERS, lambda: prompt.words_for(token, arguments))
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
    caller: Caller,
    token: Token,
    ask: Ask,
    work: Callable[[], T],
    *,
    named: Mapping[str, Any] = _NOTHING,
) -> T:
    started = perf_counter()
    outcome = "internal_error"
    answered: Mapping[str, Any] = _NOTHING
    try:
        with spending(token, ask):
            answer = work()
        outcome = "ok"
        answered = vars(answer) if isinstance(answer, Payload) else _NOTHING
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
            target=target_of(ask, named, answered),
            outcome=outcome,
            latency_ms=(perf_counter() - started) * 1000,
            request_id=caller.request_id,
        )
