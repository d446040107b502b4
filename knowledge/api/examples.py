"""Examples of the main operations, as the OpenAPI document and its page show them."""

from typing import Any

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
    "created_at": _AT,
    "updated_at": _AT,
}
_ITEM = {
    **_LISTED,
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
    "explanation": None,
    "locator": {
        "page": None,
        "start_sec": None,
        "char_span": [0, 45],
        "url": f"quarry://items/{_ITEM_ID}#char=0,45",
    },
    "folder_ids": [_FOLDER_ID],
    "source_url": None,
    "untrusted": True,
}
_FOUND = {"results": [_HIT], "mode": "hybrid", "degraded": None}

EXAMPLES: dict[str, dict[str, Any]] = {
    "ingest": {
        "request": {
            "text": {
                "kind": "text",
                "title": "Consent flow",
                "text": "The user gives consent on the authorize page.",
                "tags": ["oauth"],
            },
            "link": {"kind": "url", "url": "https://example.org/article", "auto_transform": True},
            "what it would cost": {
                "kind": "url",
                "url": "https://example.org/talk.mp3",
                "dry_run": True,
            },
        },
        "responses": {"201": _ADDED},
    },
    "search": {
        "parameters": {"query": "consent flow", "mode": "hybrid"},
        "responses": {"200": _FOUND},
    },
    "search_by_body": {
        "request": {
            "words": {"query": "consent flow", "mode": "keyword", "limit": 3},
            "narrowed": {"query": "consent flow", "tags": ["oauth"], "since": "3m"},
        },
        "responses": {"200": _FOUND},
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
