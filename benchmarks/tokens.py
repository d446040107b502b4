"""What an agent pays: the tokens of the tool list and of common answers.

Run `python -m benchmarks.tokens`. Tokens are those of granite's byte-pair tokenizer, which is in
every installation; on tool lists it counts a little more than the tokenizers of Claude and GPT.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from benchmarks import harness
from benchmarks.harness import Row

WORLD = "tokens"
QUESTION = "How is a release rolled back when the error rate rises?"
HITS = 8
TOPICS = (
    ("Release checklist", "release", "the release manager"),
    ("Rolling back a deploy", "rollback", "whoever is on call"),
    ("Error budgets", "error rate", "the owning team"),
    ("Canary releases", "canary", "the deploy pipeline"),
    ("On-call handover", "handover", "the engineer who leaves"),
    ("Feature flags", "flag", "the product team"),
    ("Database migrations", "migration", "the author of the change"),
    ("Incident reviews", "incident", "the incident lead"),
    ("Alert thresholds", "alert", "the platform team"),
    ("Build artefacts", "artefact", "the build server"),
    ("Smoke tests", "smoke test", "the test runner"),
    ("Status page", "status page", "the support team"),
)


def main() -> None:
    options = harness.parser(__doc__).parse_args()
    harness.start_product(options.home / WORLD, fresh=True)
    tables = {"tools/list": tool_lists(), "Answers": answers(_filled_library())}
    for title, rows in tables.items():
        harness.show(title, rows)
    harness.write_json(options, tables)


def count_tokens(text: str) -> int:
    """How many tokens a text has for granite's tokenizer, without its two marks around a text."""
    return len(_tokenizer().encode(text, add_special_tokens=False).ids)


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    from knowledge.providers.granite_pack import installed_pack, read_pack

    return Tokenizer.from_str(read_pack(installed_pack()).tokenizer)


def tool_lists() -> list[Row]:
    """The cost of `tools/list` for a token that may write, by toolset and with all of them."""
    from tokens.models import Toolset

    each = [(str(toolset), [str(toolset)]) for toolset in Toolset.values]
    return [_tool_list(name, toolsets) for name, toolsets in (*each, ("all", Toolset.values))]


def tools_on_the_wire(toolsets: Iterable[str]) -> list[dict[str, Any]]:
    """The tools of a token that may write, as a client receives them."""
    from mcp_types import ListToolsResult

    from mcp_gateway import calls  # noqa: F401 (registers the tools)
    from mcp_gateway.tool_table import tools_shown_to
    from tokens.models import Token

    token = Token(can_write=True, is_unscoped=True, toolsets=list(toolsets))
    listed = ListToolsResult(tools=tools_shown_to(token))
    tools: list[dict[str, Any]] = json.loads(
        listed.model_dump_json(by_alias=True, exclude_none=True)
    )["tools"]
    return tools


def tool_list_tokens(toolsets: Iterable[str]) -> int:
    """What those tools cost as compact JSON."""
    wire = json.dumps(tools_on_the_wire(toolsets), separators=(",", ":"), ensure_ascii=False)
    return count_tokens(wire)


def _tool_list(name: str, toolsets: Sequence[str]) -> Row:
    tools = len(tools_on_the_wire(toolsets))
    return {"toolset": name, "tools": tools, "tokens": tool_list_tokens(toolsets)}


def answers(secret: str) -> list[Row]:
    """The cost of each answer: its text, its links to items, and its structured content."""
    from mcp_gateway.calls import call_tool
    from mcp_gateway.identity import Caller

    def call(tool: str, **arguments: Any) -> Any:
        return call_tool(Caller(secret, edge="mcp"), tool, arguments)

    found = call("search_knowledge_base", query=QUESTION, limit=HITS)
    remembered = call("search", query=QUESTION, limit=HITS)
    item_id = str(found.results[0].user_item_id)
    return [
        _answer("search_knowledge_base", found, [hit.passage for hit in found.results]),
        _answer("search", remembered, [hit.content for hit in remembered.results]),
        _answer("context", call("context", goal=QUESTION)),
        _answer("get_item", item := call("get_item", item_id=item_id), [item.text]),
        _answer("list_recent", call("list_recent")),
        _answer("whoami", call("whoami")),
    ]


def _answer(tool: str, payload: Any, passages: Sequence[str] = ()) -> Row:
    text, *links = payload.as_content()
    quoted = sum(map(count_tokens, passages))
    return {
        "tool": tool,
        "text": count_tokens(text.text),
        "of it passages": quoted or None,
        "links": sum(count_tokens(link.model_dump_json(exclude_none=True)) for link in links),
        "structuredContent": count_tokens(payload.model_dump_json()),
    }


def _filled_library() -> str:
    """A library of twelve notes and four memories, and the secret of a token for all of it."""
    from knowledge.access import Access
    from knowledge.ingest.adding import add_text
    from knowledge.memory.remembering import add

    owner = harness.new_owner("reader")
    access = Access.whole_library(owner)
    for title, thing, who in TOPICS:
        add_text(access, title=title, text=_note(title, thing, who), tags=["operations"])
    for title, thing, who in TOPICS[:4]:
        add(access, title=f"Learned: {title}", content=_note(title, thing, who)[:400])
    harness.settle()
    return _secret(owner)


def _note(title: str, thing: str, who: str) -> str:
    return (
        f"{title}. When the error rate rises during a release, {who} decides within five minutes "
        f"whether the {thing} stays or is rolled back. The {thing} is written down in the release "
        f"log with its time, its author and the number of the build. A rollback restores the last "
        f"build that passed its checks; nobody edits a server by hand. Afterwards {who} posts the "
        f"reason in the channel of the team and opens a ticket for what the {thing} needs.\n\n"
        f"The {thing} is checked once a week by another team. A check reads the last ten entries, "
        f"compares them with the graphs of latency and errors, and notes every entry that nobody "
        f"can explain. What was learned goes into the handbook on the same day."
    )


def _secret(owner: int) -> str:
    """The secret of a token that is shown every tool."""
    from django.contrib.auth.models import User

    from tokens.minting import TokenRequest, mint_token
    from tokens.models import Toolset

    request = TokenRequest(name="reader", folder_ids=None, can_write=True, toolsets=Toolset.values)
    return mint_token(User.objects.get(pk=owner), request)[1]


if __name__ == "__main__":
    main()
