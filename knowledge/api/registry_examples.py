"""Examples of the registry's operations, as the OpenAPI document and its page show them."""

from typing import Any

_ID = "0b8f6f0e-6a55-4a3a-9f0c-2f1f6d1f4c11"
_AT = "2026-11-16T09:30:00.000000Z"
_DIGEST = "43bb87c96ab77d1b76031713616ebe7e3334f6952c621ba01b4ebf52af301162"
_SKILL_MD = (
    "---\n"
    "name: Code Review Checklist\n"
    "description: Review a pull request before it is merged.\n"
    "tags: [code-review]\n"
    "kp:\n"
    "  domain: software-engineering\n"
    "---\n\n"
    "# Checklist\n\n"
    "1. Say in one sentence what the change is for.\n"
    "2. Follow each error path to its end.\n"
)
_TRACE = {
    "@type": "ReasoningTrace",
    "id": "kp:trace:ci-timeouts",
    "metadata": {
        "created_at": "2026-11-16T09:30:00Z",
        "task_domain": "debugging",
        "success": True,
        "visibility": "network",
        "privacy_level": "aggregated",
    },
    "task": {"objective": "Find out why the nightly build times out on the ARM runners."},
    "steps": [
        {"type": "thought", "content": "The log ends while the linker runs."},
        {
            "type": "tool_call",
            "tool": {"name": "grep"},
            "output_summary": "The linker was killed for want of memory.",
        },
    ],
    "outcome": {"result_summary": "Fewer link jobs on small runners.", "confidence": 0.95},
}
_COMMON = {
    "id": _ID,
    "quality_score": 0.92,
    "score": 0.87,
    "visibility": "network",
    "contributor": "ada/agent",
    "copies": [],
    "version": 1,
    "digest": _DIGEST,
    "quarantined": False,
    "suspected": [],
    "created_at": _AT,
    "updated_at": _AT,
    "untrusted": True,
}
_SKILL = {
    **_COMMON,
    "name": "Code Review Checklist",
    "description": "Review a pull request before it is merged.",
    "domain": "software-engineering",
    "tags": ["code-review"],
    "content": _SKILL_MD,
    "version_label": "",
    "author": "",
    "license": "",
    "allowed_tools": [],
    "files": ["scripts/check.py"],
}
_UNIT = {
    **_COMMON,
    "type": "ReasoningTrace",
    "unit_id": "kp:trace:ci-timeouts",
    "name": "Find out why the nightly build times out on the ARM runners.",
    "domain": "debugging",
    "schema_version": "1.0",
    "content": _TRACE,
}
_CONTRIBUTED = {
    "id": _ID,
    "quality_score": 0.92,
    "factors": {
        "novelty": {"value": 1.0, "weight": 0.35, "share": 0.35, "because": "…", "is_known": True}
    },
    "version": 1,
    "quarantined": False,
    "suspected": [],
    "findings": [],
    "brought_back": False,
    "copy_of": None,
}


def _page(result: dict[str, Any]) -> dict[str, Any]:
    return {"results": [result], "offset": 0, "has_more": False, "degraded": None}


REGISTRY_EXAMPLES: dict[str, dict[str, Any]] = {
    "find_skills": {
        "parameters": {"query": "review a pull request"},
        "responses": {"200": _page(_SKILL)},
    },
    "contribute_skill": {
        "request": {
            "for all": {"skill_md_content": _SKILL_MD},
            "with a file": {
                "skill_md_content": _SKILL_MD,
                "visibility": "org",
                "files": {"scripts/check.py": "print('ok')\n"},
            },
        },
        "responses": {"201": _CONTRIBUTED},
    },
    "find_knowledge": {
        "parameters": {"query": "build times out"},
        "responses": {"200": _page(_UNIT)},
    },
    "contribute_knowledge": {
        "request": {"a trace": {"unit": _TRACE, "visibility": "network"}},
        "responses": {"201": _CONTRIBUTED},
    },
}
