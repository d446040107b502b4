"""Well-made contributions of every kind, and the ways to send them over both edges."""

from copy import deepcopy
from typing import Any

from mcp_types import TextContent

from knowledge.errors import QuarryError
from mcp_gateway.calls import call_tool
from mcp_gateway.identity import Caller
from tests.support.edges import over_mcp, over_rest
from tests.support.library import Mint, Minted
from tokens.models import Toolset

SKILL_MD = """---
name: Code Review Checklist
description: Review a pull request for correctness, safety and clarity before it is merged.
version: "1.2"
author: Ada
license: MIT
tags: [code-review, best-practices]
allowed-tools: Read, Bash(git diff:*)
kp:
  domain: Software-Engineering
---

# Code review checklist

Use this when a pull request is ready, and before you approve it.

## Before you read the diff

1. Read the description and say in one sentence what the change is for.
2. Run `git diff --stat main` and note which modules are touched.
3. Check that `tests/` changed together with the code that it covers.

## While you read

- Look for inputs that are not checked at the edge, such as sizes, ids and dates.
- Follow each error path to its end, and ask what the caller is told.
- Compare names with the words that the product uses elsewhere.
- Measure anything that runs in a loop of more than 1000 rows.

## After

Write what must change first, then what could be better, each with the line it is about:

```
src/orders.py:42 the total is rounded twice; round it once, in `invoice_of`
```
"""

METADATA = {
    "created_at": "2026-11-16T09:30:00Z",
    "agent_id": "ada/agent",
    "framework": "langgraph",
    "task_domain": "Debugging",
    "success": True,
    "visibility": "network",
    "privacy_level": "aggregated",
}

TRACE: dict[str, Any] = {
    "@context": "https://openknowledgepulse.org/schema/v1",
    "@type": "ReasoningTrace",
    "id": "kp:trace:ci-timeouts",
    "metadata": METADATA,
    "task": {"objective": "Find out why the nightly build times out on the ARM runners."},
    "steps": [
        {"step_id": 1, "type": "thought", "content": "The log ends while the linker runs."},
        {
            "step_id": 2,
            "type": "tool_call",
            "tool": {"name": "grep", "mcp_server": "shell"},
            "input": {"pattern": "killed", "path": "build.log"},
            "output_summary": "The linker was killed for want of memory.",
        },
        {"step_id": 3, "type": "observation", "content": "The ARM runners have 4 GB, x86 have 16."},
        {
            "step_id": 4,
            "type": "tool_call",
            "tool": {"name": "edit_file"},
            "output_summary": "Set two link jobs at a time instead of eight in build.ninja.",
        },
        {
            "step_id": 5,
            "type": "error_recovery",
            "tool": {"name": "run_tests"},
            "content": "The first try left the cache of eight jobs; cleared it and ran again.",
        },
        {"step_id": 6, "type": "observation", "content": "The build passes in 31 minutes."},
    ],
    "outcome": {
        "result_summary": "Fewer link jobs on small runners; the build takes 31 minutes.",
        "confidence": 0.95,
    },
}

PATTERN: dict[str, Any] = {
    "@context": "https://openknowledgepulse.org/schema/v1",
    "@type": "ToolCallPattern",
    "id": "kp:pattern:safe-migration",
    "name": "Migrate a large table without downtime",
    "description": "Add a column to a table that is written to all day, in steps that each "
    "take a short lock, and fill it in batches that can be stopped and resumed.",
    "metadata": {**METADATA, "task_domain": "databases"},
    "trigger_conditions": {
        "task_types": ["schema-migration", "backfill"],
        "required_tools": ["psql", "run_job"],
    },
    "tool_sequence": [
        {
            "step": "Add the column as nullable, without a default that rewrites the table",
            "execution": "sequential",
            "tools": [{"name": "psql", "query_template": "ALTER TABLE orders ADD COLUMN …"}],
        },
        {
            "step": "Fill it in batches of ten thousand rows by primary key",
            "execution": "sequential",
            "tools": [{"name": "run_job", "input_template": {"batch": 10000}}],
            "condition": "Stop when replication lags by more than five seconds",
        },
        {
            "step": "Validate a NOT NULL check, then make it the column's own",
            "execution": "sequential",
            "tools": [{"name": "psql"}, {"name": "verify_rows"}],
        },
    ],
    "performance": {"avg_ms": 5400000, "success_rate": 0.98, "uses": 41},
}

SOP: dict[str, Any] = {
    "@context": "https://openknowledgepulse.org/schema/v1",
    "@type": "ExpertSOP",
    "id": "kp:sop:chargebacks",
    "name": "Answer a chargeback",
    "domain": "Payments",
    "metadata": {**METADATA, "task_domain": "payments"},
    "source": {
        "type": "human_expert",
        "expert_id": "kp:expert:grace",
        "credentials": ["Ten years of card disputes"],
    },
    "decision_tree": [
        {
            "step": "1",
            "instruction": "Read the reason code and find the order that it is about.",
            "criteria": {"deadline": "Within 7 days of the notice"},
            "conditions": {
                "fraud": {"action": "Collect the 3-D Secure result and the delivery proof."},
                "not received": {"action": "Ask the carrier for a signed proof of delivery."},
            },
        },
        {
            "step": "2",
            "instruction": "Compare the amount with what the evidence will cost to collect.",
            "conditions": {"below 15 EUR": {"action": "Accept it and refund the customer."}},
        },
        {
            "step": "3",
            "instruction": "Write the answer on one page: what was bought, sent and signed.",
            "tool_suggestions": [{"name": "pdf_writer", "when": "The bank takes no text"}],
        },
        {
            "step": "4",
            "instruction": "File it with the acquirer and note the case number on the order.",
        },
    ],
}

UNITS = {"ReasoningTrace": TRACE, "ToolCallPattern": PATTERN, "ExpertSOP": SOP}


def unit(name: str = "ReasoningTrace", **changed: Any) -> dict[str, Any]:
    """A copy of the well-made unit of that type, with these fields in place of its own."""
    return {**deepcopy(UNITS[name]), **changed}


def skill(name: str = "Code Review Checklist", text: str = "") -> str:
    """The well-made skill under another name, with something more to say."""
    return SKILL_MD.replace("name: Code Review Checklist", f"name: {name}") + text


def agent_of(mint: Mint, **how: Any) -> Minted:
    """A token that is shown the registry's tools."""
    return mint(toolsets=[Toolset.LIBRARY, Toolset.REGISTRY], **how)


def contributed_skill(agent: Minted, text: str = SKILL_MD, **how: Any) -> dict[str, Any]:
    code, answer = over_mcp(agent, "kp_contribute_skill", skill_md_content=text, **how)
    assert code == "ok", answer
    return dict(answer)


def contributed_unit(
    agent: Minted, given: dict[str, Any], visibility: str = "network"
) -> dict[str, Any]:
    code, answer = over_mcp(agent, "kp_contribute_knowledge", unit=given, visibility=visibility)
    assert code == "ok", answer
    return dict(answer)


def found(agent: Minted, tool: str, query: str, **how: Any) -> list[dict[str, Any]]:
    code, answer = over_mcp(agent, tool, query=query, **how)
    assert code == "ok", answer
    return list(answer["results"])


def rest(agent: Minted, path: str, **asked: Any) -> Any:
    code, answer = over_rest(agent, "GET", path, **asked)
    assert code == "ok", answer
    return answer


def said(agent: Minted, tool: str, **arguments: Any) -> str:
    """The text of an answer, for clients that hand their model nothing else."""
    block = call_tool(Caller(agent.secret, edge="mcp"), tool, arguments).as_content()[0]
    assert isinstance(block, TextContent)
    return block.text


def refused(agent: Minted, tool: str, **arguments: Any) -> QuarryError:
    try:
        call_tool(Caller(agent.secret, edge="mcp"), tool, arguments)
    except QuarryError as error:
        return error
    raise AssertionError(f"{tool} was not refused.")
