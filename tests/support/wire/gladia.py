"""A local server that speaks Gladia's wire format: upload, submit, look, list."""

import json
import re
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.wire.speech import SpeechVendor, as_json

UTTERANCES = [
    ("Granite is hard.", 0.5, 1.5, 0),
    ("Very.", 1.7, 2.1, 0),
    ("Chalk is soft.", 4.0, 5.0, 1),
]


class Gladia(SpeechVendor):
    def __init__(self, server: HTTPServer) -> None:
        super().__init__(server)
        self.result = done(UTTERANCES)
        one = re.compile(r"^/v2/pre-recorded/[\w-]+$")
        for path, method, verb, answer in (
            ("/v2/upload", "POST", "upload", self._upload),
            ("/v2/pre-recorded", "POST", "submit", self._submit),
            ("/v2/pre-recorded", "GET", "list", self._list),
            (one, "GET", "look", self._look),
        ):
            server.expect_request(path, method=method).respond_with_handler(
                self.doing(verb, answer)
            )

    def _upload(self, request: Request) -> Response:
        self.keys.add(request.headers["x-gladia-key"])
        url = self.upload(request.files["audio"].read())
        return as_json({"audio_url": url, "audio_metadata": {"id": "1", "audio_duration": 5.0}})

    def _submit(self, request: Request) -> Response:
        ref = self.submit(request.get_json())
        return as_json({"id": ref, "result_url": f"{self.url}/v2/pre-recorded/{ref}"}, 201)

    def _list(self, request: Request) -> Response:
        wanted = json.loads(request.args.get("custom_metadata", "{}"))
        items = [
            self._about(ref)
            for ref, job in self.jobs.items()
            if wanted.items() <= job["body"].get("custom_metadata", {}).items()
        ]
        return as_json({"first": request.url, "current": request.url, "next": None, "items": items})

    def _look(self, request: Request) -> Response:
        ref = request.path.rsplit("/", 1)[1]
        if ref not in self.jobs:
            return as_json({"statusCode": 404, "message": "Transcription not found"}, 404)
        state = self.state_of(ref)
        if state == "at work":
            return as_json(self._about(ref))
        if state == "error":
            told = {"status": "error", "error_code": 422, "error_message": self.error}
            return as_json({**self._about(ref), **told})
        return as_json({**self._about(ref), "status": "done", "result": self.result})

    def _about(self, ref: str) -> dict[str, Any]:
        body = self.jobs[ref]["body"]
        return {
            "id": ref,
            "request_id": "G-1",
            "version": 2,
            "kind": "pre-recorded",
            "status": "processing",
            "created_at": "2026-11-16T05:00:00.000Z",
            "custom_metadata": body.get("custom_metadata"),
            "request_params": body,
            "result": None,
        }


def done(utterances: list[tuple[str, float, float, int]]) -> dict[str, Any]:
    """What a finished job's result holds."""
    rows: list[dict[str, Any]] = [
        {
            "text": text,
            "start": start,
            "end": end,
            "speaker": speaker,
            "channel": 0,
            "confidence": 0.9,
            "language": "en",
            "words": [],
        }
        for text, start, end, speaker in utterances
    ]
    return {
        "metadata": {"audio_duration": 5.0, "billing_time": 5.0},
        "transcription": {
            "full_transcript": " ".join(row["text"] for row in rows),
            "languages": ["en"],
            "utterances": rows,
        },
    }
