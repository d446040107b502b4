"""Contributions as agents make them: good ones of every type, and ones that nobody needs."""

from typing import Any

from knowledge.models import Item
from knowledge.registry.contributing import contribute_knowledge, contribute_skill
from tests.support.library import Minted

Json = dict[str, Any]

METADATA: Json = {
    "created_at": "2026-11-01T09:00:00Z",
    "task_domain": "databases",
    "success": True,
    "visibility": "network",
    "privacy_level": "aggregated",
}

SKILL = """---
name: Postgres lock triage
description: Find what blocks a Postgres migration and clear it without losing work. Use it when a
  migration hangs or times out.
version: 1.2.0
license: MIT
tags: [postgres, migrations]
kp:
  domain: databases
---

# When to use this

A migration hangs for more than a minute, or fails with `lock_timeout`.

## Find the blocker

1. Ask `pg_stat_activity` for sessions in state `active` and their `wait_event_type`.
2. Join it with `pg_blocking_pids(pid)` to see who waits for whom.
3. Note how long the oldest transaction has been open.

```sql
SELECT pid, pg_blocking_pids(pid), age(now(), xact_start), left(query, 80)
FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0;
```

## Clear it

- Wait if the blocker is a backup; it ends by itself within 20 minutes.
- Cancel reads with `pg_cancel_backend`; terminate only sessions that sit idle in a transaction.
- Never touch an autovacuum that prevents wraparound.

## Check

Run the migration again with `SET lock_timeout = '5s'`. If it fails three times in a row, move it to
the maintenance window and tell the owner of the table.
"""

TRACE: Json = {
    "@context": "https://knowledgepulse.dev/schema/v1",
    "@type": "ReasoningTrace",
    "metadata": METADATA,
    "task": {"objective": "Find out why nightly backups of the orders database stopped"},
    "steps": [
        {"type": "thought", "content": "The last good backup is of Tuesday; what changed then?"},
        {"type": "tool_call", "tool": {"name": "shell"}, "content": "journalctl -u backup"},
        {
            "type": "observation",
            "content": "pg_dump: server version mismatch, 16.4 and 15.8",
        },
        {"type": "thought", "content": "The server was upgraded while the backup host was not."},
        {"type": "tool_call", "tool": {"name": "package_manager"}, "content": "install client 16"},
        {"type": "error_recovery", "content": "The mirror had no such version; used the vendor's."},
        {"type": "tool_call", "tool": {"name": "shell"}, "content": "systemctl start backup"},
        {"type": "observation", "content": "Backup finished in 212 s, 38 GB, checksum verified."},
    ],
    "outcome": {
        "result_summary": "Client tools follow the server now; an alert watches their versions.",
        "confidence": 0.9,
    },
}

PATTERN: Json = {
    "@context": "https://knowledgepulse.dev/schema/v1",
    "@type": "ToolCallPattern",
    "metadata": METADATA,
    "name": "Search, read, cite",
    "description": "Answer a factual question from a library: search by meaning, read the two best "
    "sources in full, and cite the exact passage for every claim.",
    "trigger_conditions": {"task_types": ["question-answering"], "required_tools": ["search"]},
    "tool_sequence": [
        {"step": "search broadly", "tools": [{"name": "search"}]},
        {"step": "read the two best hits in full", "tools": [{"name": "get_item"}]},
        {
            "step": "search once more for the opposite claim",
            "tools": [{"name": "search"}],
            "condition": "the two sources disagree",
        },
    ],
    "performance": {"avg_ms": 2400, "success_rate": 0.93, "uses": 41},
}

SOP: Json = {
    "@context": "https://knowledgepulse.dev/schema/v1",
    "@type": "ExpertSOP",
    "metadata": METADATA,
    "name": "Triage of a leaking cooling loop",
    "domain": "facilities",
    "source": {
        "type": "human_expert",
        "expert_id": "expert-17",
        "credentials": ["22 years in plant operations"],
    },
    "decision_tree": [
        {
            "step": "assess",
            "instruction": "Measure the pressure drop over ten minutes with every valve closed.",
            "criteria": {"slow": "less than 0.2 bar", "fast": "0.2 bar or more"},
        },
        {
            "step": "isolate",
            "instruction": "Close the loop segment by segment, beginning at the far end.",
            "conditions": {"segment holds": "go on", "segment drops": "mark it and stop there"},
        },
        {
            "step": "repair",
            "instruction": "Replace the gasket of the marked flange; never tighten it under load.",
        },
        {
            "step": "verify",
            "instruction": "Refill to 2.5 bar and read the gauge after an hour.",
            "tool_suggestions": [{"name": "pressure_logger"}],
        },
    ],
}

LOREM = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut "
    "labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco "
    "laboris nisi ut aliquip ex ea commodo consequat. Duis aute irure dolor in reprehenderit. "
)
KEYWORDS = "seo, growth, python, ai agent, best skill, free, fast, cheap, number one, top rated, "
REPEATED = "This is the best skill for every agent on every server.\n"
LINKS = "\n".join(f"https://example.org/offers/{n}/buy-this-now-and-save" for n in range(20))
SHUFFLED = " ".join(
    ("python", "agent", "review", "skill", "best", "code", "fast")[(n * n + n // 3) % 7]
    for n in range(300)
)

SPAM = {
    "nothing": "",
    "a word": "Do it.",
    "filler": LOREM * 3,
    "keywords": "\n".join([KEYWORDS * 3] * 8),
    "shuffled words": SHUFFLED,
    "one line again and again": REPEATED * 30,
    "only links": LINKS,
}


def skill_of(body: str) -> str:
    """A SKILL.md with all its fields, whatever stands below them."""
    return SKILL[: SKILL.index("# When")] + body


def trace_of(text: str) -> Json:
    """A trace that has every kind of step, and the same to say in each."""
    kinds = ("thought", "tool_call", "observation", "error_recovery")
    steps = [{"type": kind, "tool": {"name": kind}, "content": text} for kind in kinds]
    outcome = {"result_summary": text or "-", "confidence": 1.0}
    return {**TRACE, "task": {"objective": text or "-"}, "steps": steps, "outcome": outcome}


def pattern_of(text: str) -> Json:
    calls = [{"step": text, "tools": [{"name": name}], "condition": text} for name in "abc"]
    return {**PATTERN, "name": "Pattern", "description": text or "-", "tool_sequence": calls}


def sop_of(text: str) -> Json:
    nodes = [{"step": name, "instruction": text, "criteria": {"a": text}} for name in "abcd"]
    return {**SOP, "name": "Procedure", "decision_tree": nodes}


def publish(agent: Minted, unit: Json | str = TRACE, visibility: str = "network") -> Item:
    """Contribute as an agent does: a SKILL.md, or a unit."""
    if isinstance(unit, str):
        return contribute_skill(agent.access, skill_md_content=unit, visibility=visibility).item
    return contribute_knowledge(agent.access, unit=unit, visibility=visibility).item
