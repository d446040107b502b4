"""What the local stand-ins for speech vendors have in common: uploads, jobs, and bad days."""

import json
from threading import Event
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


class SpeechVendor:
    """Keeps what it was sent, and works on each job for as many looks as it is told."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.url = server.url_for("").rstrip("/")
        self.uploads: dict[str, bytes] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.submissions: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.result: dict[str, Any] = {}
        self.looks_needed = 1
        self.error = ""
        self.failures: dict[str, list[Response]] = {}
        """By verb, what it answers instead of doing it."""
        self.lost: dict[str, list[Response]] = {}
        """By verb, what it answers after doing it."""
        self.held: dict[str, Event] = {}
        """By verb, what it waits for after doing it, before it answers."""

    def upload(self, content: bytes) -> str:
        url = f"{self.url}/file/{len(self.uploads) + 1}"
        self.uploads[url] = content
        return url

    def submit(self, body: dict[str, Any]) -> str:
        ref = f"job-{len(self.jobs) + 1}"
        self.submissions.append(body)
        self.jobs[ref] = {"audio_url": body["audio_url"], "looks": 0, "body": body}
        return ref

    def state_of(self, ref: str) -> str:
        """at work, done or error, as of one more look."""
        self.jobs[ref]["looks"] += 1
        if self.jobs[ref]["looks"] <= self.looks_needed:
            return "at work"
        return "error" if self.error else "done"

    def doing(self, verb: str, answer: Any) -> Any:
        """A handler that does a verb, unless it has a bad day."""

        def handle(request: Request) -> Response:
            if self.failures.get(verb):
                return self.failures[verb].pop(0)
            given = answer(request)
            if verb in self.held:
                self.held[verb].wait(10)
            return self.lost[verb].pop(0) if self.lost.get(verb) else given

        return handle


def as_json(body: Any, status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(body), status, headers, content_type="application/json")
