"""Examples of judgments, reputation and providers."""

from typing import Any

_ITEM_ID = "0b8f6f0e-6a55-4a3a-9f0c-2f1f6d1f4c11"
_PROVIDER_ID = "7c1d9c6e-95d5-4f1b-8a1d-3f6b7a2e5d40"
_AT = "2026-11-16T09:30:00.000000Z"

_JUDGE: dict[str, Any] = {
    "request": {
        "it holds": {"valid": True, "feedback": "Worked on Postgres 16 too."},
        "it does not": {"valid": False},
    },
    "responses": {
        "201": {"validated": True, "unit_id": _ITEM_ID, "valid": True, "quality_score": 0.86}
    },
}
_REPORT: dict[str, Any] = {
    "request": {"it is wrong": {"feedback": "Step 3 fails on version 16."}},
    "responses": {
        "201": {"validated": True, "unit_id": _ITEM_ID, "valid": False, "quality_score": 0.78}
    },
}
_REPORTS: dict[str, Any] = {
    "responses": {
        "200": {
            "reports": [
                {
                    "agent_id": "ada/reviewer",
                    "feedback": "Step 3 fails on version 16.",
                    "reputation_then": 0.57,
                    "at": _AT,
                }
            ],
            "quarantine": None,
            "total": 1,
            "page": 1,
            "per_page": 20,
        }
    }
}
_PROVIDER = {
    "id": _PROVIDER_ID,
    "agent_id": "ada/reviewer",
    "name": "CodeReview Pro",
    "description": "Reads every line of a pull request.",
    "capabilities": ["code-review", "security-audit"],
    "endpoint": "https://reviewer.example.org/mcp",
    "visibility": "network",
    "reputation_score": 0.92,
    "is_stale": False,
    "last_seen_at": _AT,
    "match": None,
}
_OFFERED = ("name", "description", "capabilities", "endpoint", "visibility")

TRUST_EXAMPLES: dict[str, dict[str, Any]] = {
    "validate_skill": _JUDGE,
    "validate_unit": _JUDGE,
    "report_skill": _REPORT,
    "report_unit": _REPORT,
    "list_skill_reports": _REPORTS,
    "list_unit_reports": _REPORTS,
    "get_reputation": {
        "parameters": {"agent_id": "ada/reviewer"},
        "responses": {
            "200": {
                "agent_id": "ada/reviewer",
                "score": 0.57,
                "contributions": 2,
                "contributions_by_type": {"skill": 2},
                "from_the_start": False,
                "trust": 1.4,
                "valid": 2,
                "not_valid": 0,
                "judged_by": [
                    {
                        "agent_id": "admin/editor",
                        "reputation_score": 0.95,
                        "valid": 2,
                        "not_valid": 0,
                        "brings": 1.4,
                    }
                ],
            }
        },
    },
    "leaderboard": {
        "responses": {
            "200": {
                "agents": [{"agent_id": "ada/reviewer", "score": 0.57, "contributions": 2}],
                "total": 1,
                "page": 1,
                "per_page": 20,
            }
        }
    },
    "discover_providers": {
        "parameters": {"capability": "code review"},
        "responses": {
            "200": {
                "providers": [
                    {
                        **_PROVIDER,
                        "match": {"capability": "code-review", "score": 1.0, "by": "word"},
                    }
                ]
            }
        },
    },
    "register_provider": {
        "request": {"a reviewer": {name: _PROVIDER[name] for name in _OFFERED}},
        "responses": {"201": _PROVIDER},
    },
    "update_provider": {
        "request": {"for colleagues only": {"visibility": "org"}},
        "responses": {"200": {**_PROVIDER, "visibility": "org"}},
    },
}
