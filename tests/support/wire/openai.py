"""A local server that speaks OpenAI's protocol, as OpenAI, Ollama and TEI do, errors included."""

import json
from collections.abc import Iterator
from threading import Event
from typing import Any

import numpy as np
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from knowledge.providers.fake import FakeEmbedder
from knowledge.providers.openai_api import OpenAIServer

DIMENSIONS = 24
SUMMARY = {"tldr": "Granite is hard.", "key_points": ["It is hard."], "quotes": []}


class OpenAI:
    """Does what it is asked, unless given another answer for it, and keeps what it was sent."""

    def __init__(self, server: HTTPServer, *, dimensions: int = DIMENSIONS) -> None:
        self.server = server
        self.meaning = FakeEmbedder(dimensions)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.answers: dict[str, list[Response]] = {}
        """By job (embeddings, chat or speech), what it answers instead, one after the other."""
        self.held: Event | None = None
        self.waits: list[float] = []
        self.speech: list[dict[str, Any]] = []
        self.language = "english"
        self.most_texts = 2_048
        for path, job in (
            ("/v1/embeddings", self._embed),
            ("/v1/chat/completions", self._chat),
            ("/v1/audio/transcriptions", self._transcribe),
        ):
            server.expect_request(path, method="POST").respond_with_handler(job)

    @property
    def url(self) -> str:
        return self.server.url_for("/v1")

    def server_of(self, model: str = "bge-m3", *, key: str = "secret") -> OpenAIServer:
        return OpenAIServer(url=self.url, key=key, model=model, job="EMBEDDER")

    def asked(self, job: str) -> list[dict[str, Any]]:
        return [request for request in self.requests if request["job"] == job]

    def _embed(self, request: Request) -> Response:
        body = self._note(request, "embeddings", request.get_json())
        if given := self._given("embeddings"):
            return given
        if len(body["input"]) > self.most_texts:
            return tei_error(422, f"batch size {len(body['input'])} > maximum allowed batch size")
        return vectors(self.meaning.embed_document(body["input"]), model=body["model"])

    def _chat(self, request: Request) -> Response:
        body = self._note(request, "chat", request.get_json())
        tokens = (sum(len(each["content"]) for each in body["messages"]) // 4, 200)
        made = completion(json.dumps(SUMMARY), model=body["model"], tokens=tokens)
        given = self._given("chat") or made
        return as_events(given) if body.get("stream") else given

    def _transcribe(self, request: Request) -> Response:
        form = {**request.form.to_dict(), "size": len(request.files["file"].read())}
        self._note(request, "speech", form)
        if given := self._given("speech"):
            return given
        text = " ".join(segment["text"] for segment in self.speech)
        if form["response_format"] == "json":
            return as_json({"text": text})
        about = {"task": "transcribe", "language": self.language, "duration": 1.0}
        return as_json({**about, "text": text, "segments": self.speech})

    def _note(self, request: Request, job: str, body: dict[str, Any]) -> dict[str, Any]:
        if self.held:
            self.held.wait(20)
        self.requests.append({"job": job, **body})
        self.keys.append(request.headers.get("Authorization", ""))
        return body

    def _given(self, job: str) -> Response | None:
        return self.answers[job].pop(0) if self.answers.get(job) else None


def vectors(rows: Any, *, model: str = "bge-m3", order: list[int] | None = None) -> Response:
    data = [
        {"object": "embedding", "index": at, "embedding": np.asarray(row).tolist()}
        for at, row in enumerate(rows)
    ]
    data = [data[at] for at in order] if order else data
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    return as_json({"object": "list", "data": data, "model": model, "usage": usage})


def completion(
    text: str,
    *,
    model: str = "llama3.2",
    reason: str | None = "stop",
    tokens: tuple[int, int] = (1_000, 200),
    refusal: str | None = None,
) -> Response:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "model": model}
    return as_json({**body, "choices": [choice], "usage": usage})


def as_events(answer: Response) -> Response:
    """A completion as it is streamed, in pieces of a few letters; an error as it is."""
    told = answer.get_json(silent=True)
    if not isinstance(told, dict) or "choices" not in told:
        return answer
    return Response("".join(_events(told)), content_type="text/event-stream")


def _events(told: dict[str, Any]) -> Iterator[str]:
    text, reason = told["choices"][0]["message"]["content"], told["choices"][0]["finish_reason"]
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": told["model"]}
    for at in range(0, len(text), 7):
        delta = {"index": 0, "delta": {"content": text[at : at + 7]}, "finish_reason": None}
        yield f"data: {json.dumps({**base, 'choices': [delta]})}\n\n"
    if reason is None:
        return  # the connection broke
    end = {"index": 0, "delta": {}, "finish_reason": reason}
    yield f"data: {json.dumps({**base, 'choices': [end]})}\n\n"
    yield f"data: {json.dumps({**base, 'choices': [], 'usage': told['usage']})}\n\n"
    yield "data: [DONE]\n\n"


def openai_error(status: int, words: str, *, code: str = "", **headers: str) -> Response:
    error = {"message": words, "type": "invalid_request_error", "param": None, "code": code}
    return as_json({"error": error}, status, **headers)


def ollama_missing(model: str) -> Response:
    words = f'model "{model}" not found, try pulling it first'
    error = {"message": words, "type": "not_found_error", "param": None, "code": None}
    return as_json({"error": error}, 404)


def tei_error(status: int, words: str) -> Response:
    return as_json({"error": words, "error_type": "Validation"}, status)


def as_json(body: Any, status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(body), status, headers, content_type="application/json")
