"""Examples of the main operations, as the OpenAPI document and its page show them."""

from typing import Any

from knowledge.api.registry_examples import REGISTRY_EXAMPLES
from knowledge.api.trust_examples import TRUST_EXAMPLES

_ITEM_ID = "0b8f6f0e-6a55-4a3a-9f0c-2f1f6d1f4c11"
_FOLDER_ID = "5d3cfa0c-3f5d-4a0c-8f43-7be0d6a0c0aa"
_CONTENT_ID = "c0a8f1de-58f2-4c39-a5d5-0a4c2f3b9e77"
_UPLOAD_ID = "9f1d7c52-2a5b-4f0e-9a5e-6f3f3f0d8c21"
_AT = "2026-11-16T09:30:00.000000Z"

_ADDED = {
    "status": "ready",
    "user_item_id": _ITEM_ID,
    "content_id": _CONTENT_ID,
    "folder_id": None,
    "index_status": "done",
    "transform_error": None,
}
_LISTED = {
    "user_item_id": _ITEM_ID,
    "content_id": _CONTENT_ID,
    "title": "Consent flow",
    "type": "document",
    "kind": "text",
    "source_url": None,
    "in_kb": True,
    "tags": ["oauth"],
    "archived": False,
    "visibility": "private",
    "folder_ids": [_FOLDER_ID],
    "status": "ready",
    "transcription_status": "none",
    "index_status": "done",
    "index_error": "",
    "suspected": [],
    "created_at": _AT,
    "updated_at": _AT,
}
_ITEM = {
    **_LISTED,
    "quarantined": False,
    "attributes": {},
    "chunk_count": 1,
    "author": "",
    "language": "en",
    "published_at": None,
    "duration_sec": None,
    "text": "The user gives consent on the authorize page.",
    "segments": [],
    "transcription_error": "",
    "transcript_by": "",
    "transcription_cost_usd": None,
    "progress": {"state": "ready", "step": "", "percent": 100, "reason": "", "error": ""},
    "transform": None,
}
_FOLDER = {
    "id": _FOLDER_ID,
    "name": "Research",
    "created_at": _AT,
    "item_count": 1,
    "last_added_at": _AT,
}
_HIT = {
    "score": 0.92,
    "signals": {
        "semantic": {"rank": 1, "score": 0.9},
        "keyword": {"rank": 1, "score": 1.0},
        "cosine": 0.81,
    },
    "title": "Consent flow",
    "user_item_id": _ITEM_ID,
    "chunk_id": 42,
    "passage": "The user gives consent on the authorize page.",
    "highlights": [[15, 22]],
    "similar_chunk_ids": [],
    "copies": [],
    "chunks": [],
    "explanation": None,
    "locator": {
        "page": None,
        "start_sec": None,
        "char_span": [0, 45],
        "url": f"quarry://items/{_ITEM_ID}#char=0,45",
    },
    "folder_ids": [_FOLDER_ID],
    "source_url": None,
    "suspected": [],
    "untrusted": True,
}
_SOURCE = {
    "id": "7c1f4b1e-52a5-4f7b-9f3b-3d2a7f1c9b55",
    "name": "Django",
    "start_url": "https://docs.djangoproject.com/en/5.2/",
    "include": [],
    "exclude": [],
    "depth": 3,
    "max_pages": 100,
    "folder_id": None,
    "state": "queued",
    "crawl": 1,
    "pages": {"queued": 0, "kept": 0, "same": 0, "skipped": 0, "failed": 0, "gone": 0},
    "pages_done": 0,
    "pages_known": 0,
    "percent": 0,
    "error": "",
    "created_at": _AT,
    "begun_at": _AT,
    "finished_at": None,
}
_FOUND = {"results": [_HIT], "mode": "hybrid", "degraded": None}
_REMEMBERED = {
    "results": [
        {
            "id": _ITEM_ID,
            "user_item_id": _ITEM_ID,
            "chunk_id": 42,
            "type": "pattern",
            "name": "OAuth with PKCE",
            "title": "OAuth with PKCE",
            "content": "A public client proves itself by PKCE and keeps no secret.",
            "score": 0.92,
            "source": None,
            "url": f"quarry://items/{_ITEM_ID}",
            "result_origin": "graph",
            "metadata": {
                "category": "authentication",
                "languages": ["typescript", "python"],
                "tags": [],
                "chunk_id": 42,
                "created_at": _AT,
                "updated_at": _AT,
                "recency_boost": 0.98,
                "contested": False,
                "contested_with": [],
                "related": None,
            },
            "copies": [],
            "untrusted": True,
        }
    ],
    "total": 5,
    "query": "OAuth implementation patterns",
    "filters": {"language": "python"},
    "graph_count": 3,
    "document_count": 2,
    "limit": 1,
    "offset": 0,
    "has_more": True,
    "usage_hint": "Results show their best passage; read a whole text with get_item or fetch "
    "and its id.",
    "degraded": None,
}

_OUT_OF_SCOPE = {
    "index": 1,
    "error": "forbidden_scope",
    "message": "Some folders are outside this token's reach; leave them out and call again.",
    "out_of_scope": [_FOLDER_ID],
}
_MEMORY: dict[str, Any] = {
    "id": _ITEM_ID,
    "type": "rule",
    "title": "Pool size",
    "status": None,
    "folder_id": None,
    "index_status": "done",
    "conflicts": [],
    "degraded": None,
    "links_made": [],
    "suspected": [],
    "findings": [],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    **REGISTRY_EXAMPLES,
    **TRUST_EXAMPLES,
    "ingest": {
        "request": {
            "text": {
                "kind": "text",
                "title": "Consent flow",
                "text": "The user gives consent on the authorize page.",
                "tags": ["oauth"],
            },
            "link": {"kind": "url", "url": "https://example.org/article", "auto_transform": True},
            "into a folder": {
                "kind": "url",
                "url": "https://example.org/article",
                "folder_id": _FOLDER_ID,
            },
            "what it would cost": {
                "kind": "url",
                "url": "https://example.org/talk.mp3",
                "dry_run": True,
            },
        },
        "responses": {"201": _ADDED},
    },
    "ingest_batch": {
        "request": {
            "two notes": {
                "entries": [
                    {"title": "Consent flow", "text": "The user gives consent on the page."},
                    {
                        "title": "Refusal",
                        "text": "The user refuses, and is sent back.",
                        "folder_id": _FOLDER_ID,
                    },
                ]
            },
            "all or nothing": {
                "entries": [
                    {
                        "title": "Consent flow",
                        "text": "The user gives consent on the page.",
                        "tags": ["oauth"],
                        "folder_id": _FOLDER_ID,
                    }
                ],
                "atomic": True,
            },
        },
        "responses": {
            "201": {
                "results": [{"index": 0, "answer": _ADDED}, _OUT_OF_SCOPE],
                "accepted": 1,
                "refused": 1,
            }
        },
    },
    "search": {
        "parameters": {"query": "consent flow", "mode": "hybrid"},
        "responses": {"200": _FOUND},
    },
    "search_by_body": {
        "request": {
            "by words": {"query": "consent flow", "mode": "keyword", "limit": 3},
            "by tags": {"query": "consent flow", "tags": ["oauth"], "since": "3m"},
        },
        "responses": {"200": _FOUND},
    },
    "search_memory": {
        "request": {
            "memory and documents": {
                "query": "OAuth implementation patterns",
                "language": "python",
                "limit": 1,
            },
            "open tasks": {"query": "authentication", "types": ["task"], "status": "todo,doing"},
        },
        "responses": {"200": _REMEMBERED},
    },
    "explore": {"parameters": {"mode": "list", "status": "todo,doing"}},
    "build_context": {
        "request": {
            "a goal": {"goal": "Keep the harbour lights on"},
            "within a budget": {
                "goal": "Find out why the lamp flickers",
                "intent": "debug",
                "token_budget": 1_000,
            },
        },
    },
    "list_items": {
        "responses": {"200": {"items": [_LISTED], "total": 1, "page": 1, "per_page": 20}}
    },
    "get_item": {"responses": {"200": _ITEM}},
    "update_item": {
        "request": {
            "rename": {"title": "The consent flow"},
            "keep out of search": {"in_kb": False},
            "put away": {"archived": True, "tags": []},
        },
        "responses": {"200": {**_ITEM, "title": "The consent flow"}},
    },
    "file_item": {
        "request": {"one folder": {"folder_ids": [_FOLDER_ID]}},
        "responses": {"200": {"user_item_id": _ITEM_ID, "folder_ids": [_FOLDER_ID]}},
    },
    "list_folders": {"responses": {"200": {"folders": [_FOLDER]}}},
    "create_folder": {
        "request": {"a folder": {"name": "Research"}},
        "responses": {"201": {**_FOLDER, "item_count": 0, "last_added_at": None}},
    },
    "rename_folder": {
        "request": {"another name": {"name": "Reading"}},
        "responses": {"200": {**_FOLDER, "name": "Reading"}},
    },
    "begin_upload": {
        "request": {
            "a recording": {"filename": "talk.mp3", "mime_type": "audio/mpeg", "size": 1482093}
        },
        "responses": {
            "201": {
                "upload_id": _UPLOAD_ID,
                "signed_url": f"http://localhost:8000/api/v1/uploads/{_UPLOAD_ID}/file?signature=…",
                "method": "PUT",
                "headers": {"Content-Type": "audio/mpeg"},
                "expires_at": _AT,
                "max_bytes": 500_000_000,
            }
        },
    },
    "finish_upload": {
        "request": {"a recording": {"upload_id": _UPLOAD_ID, "title": "The talk"}},
        "responses": {"201": {**_ADDED, "status": "transcribing", "index_status": "pending"}},
    },
    "finish_document_upload": {
        "request": {"a document": {"upload_id": _UPLOAD_ID}},
        "responses": {"201": {**_ADDED, "status": "processing", "index_status": "pending"}},
    },
    "add_source": {
        "request": {
            "a site": {"name": "Django", "start_url": "https://docs.djangoproject.com/en/5.2/"},
            "a part of one": {
                "name": "Wiki",
                "start_url": "https://wiki.example.org/docs/",
                "include": ["/docs/*"],
                "exclude": ["/docs/old/*", "*?print=*"],
                "depth": 2,
                "max_pages": 50,
            },
        },
        "responses": {"201": _SOURCE},
    },
    "update_source": {
        "request": {"deeper": {"depth": 5}, "without a part": {"exclude": ["/blog/*"]}},
        "responses": {"200": {**_SOURCE, "depth": 5}},
    },
    "remember": {
        "request": {
            "a rule": {
                "title": "Pool size",
                "content": "Connections run out at forty workers.",
                "entity_type": "rule",
                "languages": ["python"],
            },
            "a project": {
                "title": "Rollout",
                "content": "Bring the new pool to every region.",
                "entity_type": "project",
            },
        },
        "responses": {"201": _MEMORY},
    },
    "remember_batch": {
        "request": {
            "two rules": {
                "entries": [
                    {"title": "Pool size", "content": "Forty connections.", "entity_type": "rule"},
                    {"title": "Retries", "content": "Three, then stop.", "entity_type": "rule"},
                ]
            }
        },
        "responses": {
            "201": {
                "results": [
                    {"index": 0, "answer": _MEMORY},
                    {"index": 1, "answer": {**_MEMORY, "title": "Retries"}},
                ],
                "accepted": 2,
                "refused": 0,
            }
        },
    },
    "manage_task": {
        "request": {
            "take it up": {"action": "update_task", "data": {"status": "todo"}},
            "finish it": {
                "action": "complete_task",
                "data": {"learnings": "Forty connections are plenty for one worker."},
            },
        },
    },
    "create_webhook": {
        "request": {
            "two events": {
                "url": "https://example.org/hook",
                "events": ["item.ready", "item.failed"],
            }
        },
    },
    "get_usage": {
        "responses": {
            "200": {
                "quota": {"tier": "free", "cap_per_month": 300, "used": 92.5, "remaining": 207.5},
                "this_month": {
                    "month": "2026-11-01",
                    "used": 90.0,
                    "reserved": 2.5,
                    "transforms": 3,
                    "answers": 12,
                    "answers_cost_usd": 0.1432,
                },
                "earlier": [],
            }
        }
    },
    "mint_token": {
        "request": {
            "a reader of one folder": {"name": "Reader", "folder_ids": [_FOLDER_ID]},
            "an agent that may write": {
                "name": "Agent",
                "is_unscoped": True,
                "can_write": True,
                "expires_days": 90,
            },
        },
    },
}
