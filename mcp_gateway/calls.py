"""What a client may ask, each as a plain function: token, limit, work, record, answer."""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, TypeVar

from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)

from knowledge.asks import Ask
from knowledge.errors import InvalidInput, QuarryError
from mcp_gateway import completions, prompts, resources
from mcp_gateway import tools as _tools  # noqa: F401 (registers them)
from mcp_gateway.dispatch import was_stopped
from mcp_gateway.identity import Caller
from mcp_gateway.payloads.base import Payload
from mcp_gateway.tool_table import tool_named, tools_shown_to
from tokens.activity import record, target_of
from tokens.limits import spending
from tokens.models import Token

T = TypeVar("T")

TTL_MS = 0
"""Nothing may be kept: a token that is revoked is dead at the very next ask."""

_NOTHING: Mapping[str, Any] = {}


def list_tools(caller: Caller, params: PaginatedRequestParams | None = None) -> ListToolsResult:
    """What the caller may call."""
    _refuse_cursor(params)
    tools = tools_shown_to(caller.find_token())
    return ListToolsResult(tools=tools, ttl_ms=TTL_MS, cache_scope="private")


def answer_tool_call(caller: Caller, params: CallToolRequestParams) -> CallToolResult:
    """What a tool answers, as text and as structured content."""
    answer = call_tool(caller, params.name, params.arguments or {})
    return CallToolResult(
        content=answer.as_content(), structured_content=answer.model_dump(mode="json")
    )


def call_tool(caller: Caller, name: str, arguments: Mapping[str, Any]) -> Payload:
    """Run a tool for the caller; every call of a known tool is counted and recorded."""
    token = caller.find_token()
    tool = tool_named(name, token)

    def run() -> Payload:
        tool.require(token)
        return tool.prepare(token, arguments)()

    return _run_and_record(caller, token, tool.ask, run, named=arguments)


def list_resources(caller: Caller, params: PaginatedRequestParams | None) -> ListResourcesResult:
    """A page of what the caller may read by address."""
    token = caller.find_token()
    cursor = params.cursor if params else None
    work = resources.list_resources
    return _run_and_record(caller, token, Ask.LIST_RECENT, lambda: work(token.access, cursor))


def list_resource_templates(
    caller: Caller, params: PaginatedRequestParams | None
) -> ListResourceTemplatesResult:
    """The forms of addresses, which are the same for every caller."""
    _refuse_cursor(params)
    return ListResourceTemplatesResult(
        resource_templates=resources.TEMPLATES, ttl_ms=TTL_MS, cache_scope="private"
    )


def read_resource(caller: Caller, params: ReadResourceRequestParams) -> ReadResourceResult:
    """The text behind an address."""
    token = caller.find_token()
    address = resources.address_of(params.uri)
    contents = _run_and_record(
        caller,
        token,
        address.ask,
        lambda: resources.read_resource(token.access, params.uri),
        named={"item_id": address.item_id},
    )
    return ReadResourceResult(contents=[contents], ttl_ms=TTL_MS, cache_scope="private")


def list_prompts(caller: Caller, params: PaginatedRequestParams | None) -> ListPromptsResult:
    """The workflows that the caller is offered."""
    _refuse_cursor(params)
    shown = prompts.prompts_shown_to(caller.find_token())
    return ListPromptsResult(prompts=shown, ttl_ms=TTL_MS, cache_scope="private")


def get_prompt(caller: Caller, params: GetPromptRequestParams) -> GetPromptResult:
    """A workflow in words, with what the caller gave in them."""
    token = caller.find_token()
    prompt = prompts.prompt_named(params.name)
    given = params.arguments or {}
    words = _run_and_record(caller, token, Ask.LIST_FOLDERS, lambda: prompt.words_for(token, given))
    return GetPromptResult(
        description=prompt.definition.description,
        messages=[PromptMessage(role="user", content=TextContent(text=words))],
    )


def complete(caller: Caller, params: CompleteRequestParams) -> CompleteResult:
    """What an argument may be, among what the caller sees."""
    token = caller.find_token()
    ask = completions.ask_of(params)
    work = completions.complete
    completion = _run_and_record(caller, token, ask, lambda: work(token.access, params))
    return CompleteResult(completion=completion)


def _refuse_cursor(params: PaginatedRequestParams | None) -> None:
    """Refuse a cursor where there is nothing but the first page."""
    if params and params.cursor is not None:
        raise InvalidInput("This is one page; leave out the cursor.", field="cursor")


def _run_and_record(
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
