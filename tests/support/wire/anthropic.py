"""A local server that speaks the wire format of Anthropic's Messages API."""

import json
from collections.abc import Sequence
from threading import Event
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from knowledge.providers.claude import ClaudeSummarizer
from knowledge.providers.claude_answers import ClaudeAnswerer

PATH = "/v1/messages"
TLDR = "Granite is quarried on the coast."


class Anthropic:
    """Answers what it was given to answer, else a good summary, and keeps what it was asked."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[Response] = []
        self.held: Event | None = None
        server.expect_request(PATH, method="POST").respond_with_handler(self.answer)

    @property
    def base_url(self) -> str:
        return self.server.url_for("").rstrip("/")

    def summarizer(self, *, model: str = "", timeout: float = 5.0) -> ClaudeSummarizer:
        return ClaudeSummarizer("secret", base_url=self.base_url, model=model, timeout=timeout)

    def answerer(self, *, model: str = "", timeout: float = 5.0) -> ClaudeAnswerer:
        return ClaudeAnswerer("secret", base_url=self.base_url, model=model, timeout=timeout)

    def answer(self, request: Request) -> Response:
        if self.held:
            self.held.wait()
        body = request.get_json()
        self.requests.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        answer = self.answers.pop(0) if self.answers else told(model=body["model"])
        return as_events(answer) if body.get("stream") else answer

    def asked(self, number: int = 0) -> str:
        """What the model was given to read in one call."""
        text: str = self.requests[number]["messages"][0]["content"]
        return text


def told(
    tldr: str = TLDR,
    key_points: Sequence[str] = ("It is hard.",),
    quotes: Sequence[str] = (),
    *,
    model: str = "claude-sonnet-5-5",
    tokens: tuple[int, int] = (1_000, 200),
    **changes: Any,
) -> Response:
    """A good answer: some thinking, then the summary as JSON."""
    summary = {"tldr": tldr, "key_points": list(key_points), "quotes": list(quotes)}
    return message(json.dumps(summary), model=model, tokens=tokens, **changes)


def message(
    text: str,
    *,
    model: str = "claude-sonnet-5-5",
    tokens: tuple[int, int] = (1_000, 200),
    **changes: Any,
) -> Response:
    body = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [
            {"type": "thinking", "thinking": "", "signature": "c2ln"},
            {"type": "text", "text": text, "citations": None},
        ],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
        **changes,
    }
    return Response(json.dumps(body), content_type="application/json")


def cited(*blocks: tuple[str, Sequence[tuple[int, int, int]]], **changes: Any) -> Response:
    """An answer of pieces, each with its citations: search result, first block, end."""
    content = [
        {
            "type": "text",
            "text": text,
            "citations": [
                {
                    "type": "search_result_location",
                    "cited_text": "…",
                    "source": "quarry://items/x",
                    "title": "x",
                    "search_result_index": result,
                    "start_block_index": first,
                    "end_block_index": end,
                }
                for result, first, end in citations
            ]
            or None,
        }
        for text, citations in blocks
    ]
    return message("", content=content, **changes)


def as_events(answer: Response) -> Response:
    """A message as the vendor streams it; whatever is none is sent as it is."""
    told = answer.get_json(silent=True)
    if not isinstance(told, dict) or told.get("type") != "message":
        return answer
    begun = {**told, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(told["content"]):
        events += _events_of(index, block)
    end = {"stop_reason": told["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": told["usage"]})
    events.append({"type": "message_stop"})
    lines = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    return Response("".join(lines), content_type="text/event-stream")


def _events_of(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    """Text and citations come after each other, in pieces."""
    deltas: list[dict[str, Any]] = []
    if block["type"] == "text":
        half = len(block["text"]) // 2
        pieces = (block["text"][:half], block["text"][half:])
        deltas = [
            *({"type": "text_delta", "text": piece} for piece in pieces),
            *({"type": "citations_delta", "citation": each} for each in block["citations"] or ()),
        ]
        block = {**block, "text": "", "citations": None}
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def failure(status: int) -> Response:
    error = {"type": "some_error", "message": "the vendor's own words"}
    body = json.dumps({"type": "error", "error": error, "request_id": "req_01"})
    return Response(body, status, content_type="application/json")
