"""The rows of the table of both edges that are about memory, its sources and the registry."""

import json
import re
from typing import Any

from tests.edges.table import WORDS, Ask, Call, Said, rest, shown
from tests.support.contributions import SKILL_MD, TRACE
from tests.support.edges import MISSING, World, over_mcp, over_rest
from tests.support.library import Minted
from tokens.models import Token, Toolset

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NOWHERE = "22222222-2222-4222-8222-222222222222"
REFUSED = frozenset({"invalid_body"})
HIDDEN = frozenset({"not_found"})
NOTE = {"title": "new", "content": "granite is cut along its grain"}
START = {"action": "start_task"}


def memory(tool: str, **arguments: Any) -> Call:
    return shown(Toolset.MEMORY, tool, **arguments)


def registry(tool: str, **arguments: Any) -> Call:
    return shown(Toolset.REGISTRY, tool, **arguments)


def named(body: Any) -> list[str]:
    """Everything that an answer names, in order: the same rows, however each edge shapes them."""
    return list(dict.fromkeys(_UUID.findall(json.dumps(body))))


def found(body: Any) -> Any:
    return [row["id"] for row in body["results"]], body["total"]


def one_of(body: Any) -> Any:
    return {name: value for name, value in body.items() if name in ("score", "contributions")}


def related_to_it(world: World, token: Minted, item: str) -> Said:
    Token.objects.filter(pk=token.row.pk).update(toolsets=[Toolset.MEMORY])
    try:
        return over_mcp(token, "add", **NOTE, related_to=[item])
    finally:
        Token.objects.filter(pk=token.row.pk).update(toolsets=token.row.toolsets)


def related_over_rest(world: World, token: Minted, item: str) -> Said:
    return over_rest(token, "POST", "memory", **NOTE, related_to=[item])


def missing(method: str, path: str, *covers: str, writes: bool = False, **sent: Any) -> Ask:
    """About a row that is not there: nobody learns more than that."""
    call = rest(method, path.format(missing=MISSING, item="{item}"), **sent)
    return Ask(covers=covers, rest=call, writes=writes, allowed=HIDDEN)


SITE = {"start_url": "https://example.org/docs/"}

MEMORY_ASKS: dict[str, Ask] = {
    "search memory and documents": Ask(
        covers=("search_memory", "tool search"),
        rest=rest("POST", "memory/search", **WORDS),
        mcp=memory("search", **WORDS),
        agree=found,
    ),
    "read an item of memory": Ask(
        covers=("tool fetch",),
        rest=rest("GET", "items/{item}"),
        mcp=memory("fetch", id="{item}"),
        agree=lambda body: (body["title"], body["text"]),
        is_about_an_item=True,
    ),
    "explore a list": Ask(
        covers=("explore", "tool explore"),
        rest=rest("GET", "explore", mode="list", types="document"),
        mcp=memory("explore", mode="list", types=["document"]),
        agree=named,
    ),
    "explore what is related": Ask(
        covers=(),
        rest=rest("GET", "explore?mode=related&entity_id={item}"),
        mcp=memory("explore", mode="related", entity_id="{item}"),
        agree=named,
        is_about_an_item=True,
    ),
    "build a context": Ask(
        covers=("build_context", "context"),
        rest=rest("POST", "context", goal="cut granite in the quarry"),
        mcp=memory("context", goal="cut granite in the quarry"),
        agree=named,
    ),
    "remember": Ask(
        covers=("remember", "add"),
        rest=rest("POST", "memory", **NOTE),
        mcp=memory("add", **NOTE),
        writes=True,
    ),
    "remember many things": Ask(
        covers=("remember_batch",), rest=rest("POST", "memory/batch", entries=[NOTE]), writes=True
    ),
    "remember with a relation": Ask(
        covers=(),
        rest=related_over_rest,
        mcp=related_to_it,
        writes=True,
        is_about_an_item=True,
    ),
    "manage what is no task": Ask(
        covers=("manage_task", "manage"),
        rest=rest("POST", "tasks/{item}/moves", **START),
        mcp=memory("manage", entity_id="{item}", **START),
        agree=lambda body: body,
        writes=True,
        is_about_an_item=True,
        allowed=REFUSED,
    ),
    "list relations": Ask(
        covers=("list_relations",),
        rest=rest("GET", "items/{item}/relations"),
        is_about_an_item=True,
    ),
    "relate to what is not there": Ask(
        covers=("relate_items",),
        rest=rest("POST", "items/{item}/relations", target_id=NOWHERE),
        writes=True,
        is_about_an_item=True,
        allowed=HIDDEN,
    ),
    "end a relation": missing("DELETE", "relations/{missing}", "end_relation", writes=True),
    "list sources": Ask(
        covers=("list_sources", "tool list_sources"),
        rest=rest("GET", "sources"),
        mcp=memory("list_sources"),
        agree=named,
    ),
    "add a source": Ask(
        covers=("add_source", "crawl_source"),
        rest=rest("POST", "sources", name="Docs", **SITE),
        mcp=memory("crawl_source", name="Other docs", **SITE),
        writes=True,
        allowed=frozenset({"ok", "invalid_body"}),
    ),
    "read a source": missing("GET", "sources/{missing}", "get_source"),
    "change a source": missing(
        "PATCH", "sources/{missing}", "update_source", writes=True, name="Mine"
    ),
    "delete a source": missing("DELETE", "sources/{missing}", "delete_source", writes=True),
    "crawl a source": missing("POST", "sources/{missing}/crawls", "tool crawl_source", writes=True),
    "list a source's pages": missing("GET", "sources/{missing}/pages", "list_source_pages"),
}

REGISTRY_ASKS: dict[str, Ask] = {
    "search skills": Ask(
        covers=("find_skills", "kp_search_skill"),
        rest=rest("GET", "skills", query="granite quarry"),
        mcp=registry("kp_search_skill", query="granite quarry"),
        agree=named,
    ),
    "search knowledge": Ask(
        covers=("find_knowledge", "kp_search_knowledge"),
        rest=rest("GET", "knowledge", query="granite quarry"),
        mcp=registry("kp_search_knowledge", query="granite quarry"),
        agree=named,
    ),
    "contribute a skill": Ask(
        covers=("contribute_skill", "kp_contribute_skill"),
        rest=rest("POST", "skills", skill_md_content=SKILL_MD),
        mcp=registry("kp_contribute_skill", skill_md_content=SKILL_MD),
        agree=named,
        writes=True,
    ),
    "contribute a unit": Ask(
        covers=("contribute_knowledge", "kp_contribute_knowledge"),
        rest=rest("POST", "knowledge", unit=TRACE, visibility="network"),
        mcp=registry("kp_contribute_knowledge", unit=TRACE, visibility="network"),
        agree=named,
        writes=True,
    ),
    "validate what is no unit": Ask(
        covers=("validate_unit", "kp_validate_unit"),
        rest=rest("POST", "knowledge/{item}/validations", valid=True),
        mcp=registry("kp_validate_unit", unit_id="{item}", valid=True),
        writes=True,
        is_about_an_item=True,
        allowed=HIDDEN,
    ),
    "report what is no unit": Ask(
        covers=("report_unit",),
        rest=rest("POST", "knowledge/{item}/reports", feedback="It fails."),
        mcp=registry("kp_validate_unit", unit_id="{item}", valid=False, feedback="It fails."),
        writes=True,
        is_about_an_item=True,
        allowed=HIDDEN,
    ),
    "reputation": Ask(
        covers=("get_reputation", "kp_reputation_query"),
        rest=rest("GET", "reputation/nobody/here"),
        mcp=registry("kp_reputation_query", agent_id="nobody/here"),
        agree=one_of,
    ),
    "leaderboard": Ask(covers=("leaderboard",), rest=rest("GET", "leaderboard")),
    "discover providers": Ask(
        covers=("discover_providers", "kp_provider_discover"),
        rest=rest("GET", "providers", capability="code review"),
        mcp=registry("kp_provider_discover", capability="code review"),
        agree=named,
    ),
    "register a provider": Ask(
        covers=("register_provider",),
        rest=rest("POST", "providers", name="Mason", capabilities=["cut granite"]),
        writes=True,
    ),
    "read a provider": missing("GET", "providers/{missing}", "get_provider"),
    "change a provider": missing(
        "PATCH", "providers/{missing}", "update_provider", writes=True, name="Mine"
    ),
    "delete a provider": missing("DELETE", "providers/{missing}", "delete_provider", writes=True),
    "a provider's heartbeat": missing(
        "POST", "providers/{missing}/heartbeats", "provider_heartbeat", writes=True
    ),
    "read a skill": missing("GET", "skills/{missing}", "get_skill"),
    "list a skill's versions": missing("GET", "skills/{missing}/versions", "list_skill_versions"),
    "install a skill": missing("GET", "skills/{missing}/archive", "get_skill_archive"),
    "list a skill's validations": missing(
        "GET", "skills/{missing}/validations", "list_skill_validations"
    ),
    "validate a skill": missing(
        "POST", "skills/{missing}/validations", "validate_skill", writes=True, valid=False
    ),
    "list a skill's reports": missing("GET", "skills/{missing}/reports", "list_skill_reports"),
    "report a skill": missing("POST", "skills/{missing}/reports", "report_skill", writes=True),
    "list a unit's reports": missing("GET", "knowledge/{missing}/reports", "list_unit_reports"),
    "read a unit": missing("GET", "knowledge/{missing}", "get_knowledge"),
    "list a unit's versions": missing(
        "GET", "knowledge/{missing}/versions", "list_knowledge_versions"
    ),
    "list a unit's validations": missing(
        "GET", "knowledge/{missing}/validations", "list_unit_validations"
    ),
}
