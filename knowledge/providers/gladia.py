"""Transcription by Gladia, over its v2 API for recordings."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from knowledge.providers.protocols import Transcript
from knowledge.providers.vendor_job import VendorTranscriber
from knowledge.sources.extracted import Segment

MARK = "quarry_job"
"""What a job of ours carries, so that it is found in the vendor's list."""


class GladiaTranscriber(VendorTranscriber):
    """Uploads the file, hands the job in, and reads utterances and speakers from the answer."""

    name = "gladia"
    usd_per_hour = 0.61  # list price of June 2026, speakers included
    vendor = "Gladia"
    url = "https://api.gladia.io"
    jobs = "/v2/pre-recorded"
    key_header = "x-gladia-key"
    key_setting = "GLADIA_API_KEY"
    url_setting = "GLADIA_BASE_URL"

    def _upload(self, audio: Path) -> str:
        with audio.open("rb") as file:
            part = (audio.name, file, "application/octet-stream")
            answer = self._api.ask("POST", "/v2/upload", files={"audio": part})
        return str(answer["audio_url"])

    def _submit(self, audio_url: str, intent: str, *, language: str) -> str:
        spoken = {"language_config": {"languages": [language]}} if language else {}
        job = {"audio_url": audio_url, "diarization": True, "custom_metadata": {MARK: intent}}
        return str(self._api.ask("POST", self.jobs, json={**job, **spoken})["id"])

    def _find(self, audio_url: str, intent: str, *, since: datetime) -> str | None:
        mark = {MARK: intent}
        listed = self._api.ask("GET", self.jobs, params={"custom_metadata": json.dumps(mark)})
        jobs = listed["items"]
        return next((str(job["id"]) for job in jobs if _is_of(job, audio_url, mark)), None)

    def _look(self, ref: str) -> Transcript | None:
        job = self._api.ask("GET", f"{self.jobs}/{ref}")
        if job["status"] in ("queued", "processing"):
            return None
        if job["status"] == "error":
            raise self._api.failure(_complaint(job))
        if job["status"] != "done":
            raise ValueError(f"a job of status {job['status']!r}")
        found = job["result"]["transcription"]
        languages = found.get("languages") or [""]
        return Transcript(segments=tuple(_segments(found)), language=str(languages[0]))


def _is_of(job: Mapping[str, Any], audio_url: str, mark: Mapping[str, str]) -> bool:
    asked = job.get("request_params") or {}
    return job.get("custom_metadata") == mark or asked.get("audio_url") == audio_url


def _complaint(job: Mapping[str, Any]) -> str:
    return str(job.get("error_message") or f"it failed with code {job.get('error_code')}")


def _segments(found: Mapping[str, Any]) -> Iterator[Segment]:
    """The utterances; speakers are told apart only where there are several."""
    utterances = found["utterances"]
    are_several = len({utterance.get("speaker") for utterance in utterances}) > 1
    for utterance in utterances:
        yield Segment(
            start_sec=float(utterance["start"]),
            end_sec=float(utterance["end"]),
            text=str(utterance["text"]).strip(),
            speaker=_speaker(utterance.get("speaker")) if are_several else "",
        )


def _speaker(number: object) -> str:
    return f"Speaker {number + 1}" if isinstance(number, int) else ""
