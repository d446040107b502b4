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
        return self.answers.pop(0) if self.answers else told(model=body["model"])

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
            {"type": "text", "text": text},
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


def failure(status: int) -> Response:
    error = {"type": "some_error", "message": "the vendor's own words"}
    body = json.dumps({"type": "error", "error": error, "request_id": "req_01"})
    return Response(body, status, content_type="application/json")
