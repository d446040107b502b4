"""A local server that speaks AssemblyAI's wire format: upload, submit, look, list."""

import re
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.wire.speech import SpeechVendor, as_json

WORDS = [
    ("Granite", 500, 900, "A"),
    ("is", 950, 1000, "A"),
    ("hard.", 1050, 1500, "A"),
    ("Very.", 1700, 2100, "A"),
    ("Chalk", 4000, 4300, "B"),
    ("is", 4350, 4400, "B"),
    ("soft.", 4450, 5000, "B"),
]


class AssemblyAI(SpeechVendor):
    def __init__(self, server: HTTPServer) -> None:
        super().__init__(server)
        self.result = completed(WORDS)
        self.page = 200
        one = re.compile(r"^/v2/transcript/[\w-]+$")
        for path, method, verb, answer in (
            ("/v2/upload", "POST", "upload", self._upload),
            ("/v2/transcript", "POST", "submit", self._submit),
            ("/v2/transcript", "GET", "list", self._list),
            (one, "GET", "look", self._look),
        ):
            server.expect_request(path, method=method).respond_with_handler(
                self.doing(verb, answer)
            )

    def _upload(self, request: Request) -> Response:
        self.keys.add(request.headers["Authorization"])
        return as_json({"upload_url": self.upload(request.get_data())})

    def _submit(self, request: Request) -> Response:
        body = request.get_json()
        return as_json({"id": self.submit(body), "status": "queued", **body})

    def _list(self, request: Request) -> Response:
        refs = list(reversed(self.jobs))
        if before := request.args.get("before_id"):
            refs = refs[refs.index(before) + 1 :]
        refs = refs[: min(self.page, int(request.args.get("limit", 10)))]
        rows = [
            {
                "id": ref,
                "audio_url": self.jobs[ref]["audio_url"],
                "status": "processing",
                "created": self.jobs[ref].get("created", "2099-01-01T00:00:00.123456"),
                "resource_url": f"{self.url}/v2/transcript/{ref}",
            }
            for ref in refs
        ]
        details = {"limit": 200, "result_count": len(rows), "current_url": request.url}
        return as_json({"page_details": details, "transcripts": rows})

    def _look(self, request: Request) -> Response:
        ref = request.path.rsplit("/", 1)[1]
        if ref not in self.jobs:
            return as_json({"error": "Transcript lookup error, transcript id not found"}, 404)
        state = self.state_of(ref)
        about = {"id": ref, "audio_url": self.jobs[ref]["audio_url"]}
        if state == "at work":
            return as_json({**about, "status": "processing", "utterances": None})
        if state == "error":
            return as_json({**about, "status": "error", "error": self.error})
        return as_json({**about, "status": "completed", **self.result})


def completed(words: list[tuple[str, int, int, str]]) -> dict[str, Any]:
    """What a finished transcript holds: the words, and the turns of each speaker."""
    turns: list[dict[str, Any]] = []
    for word in (as_word(*word) for word in words):
        if not turns or turns[-1]["speaker"] != word["speaker"]:
            turns.append({"speaker": word["speaker"], "words": [], "confidence": 0.9})
        turns[-1]["words"].append(word)
    for turn in turns:
        turn["text"] = " ".join(word["text"] for word in turn["words"])
        turn["start"], turn["end"] = turn["words"][0]["start"], turn["words"][-1]["end"]
    return {
        "language_code": "en_us",
        "text": " ".join(turn["text"] for turn in turns),
        "words": [word for turn in turns for word in turn["words"]],
        "utterances": turns,
    }


def as_word(text: str, start: int, end: int, speaker: str) -> dict[str, Any]:
    return {"text": text, "start": start, "end": end, "confidence": 0.98, "speaker": speaker}
