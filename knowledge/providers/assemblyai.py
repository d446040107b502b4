"""Transcription by AssemblyAI, over its v2 API."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from knowledge.providers.protocols import Transcript
from knowledge.providers.vendor_job import VendorTranscriber
from knowledge.sources.extracted import Segment

Word = Mapping[str, Any]

MODELS = ("universal-3-5-pro", "universal-2")
"""In order: the second for languages that the first does not know."""

PAGE = 200
MOST_PAGES = 10
LONGEST_SENTENCE_MS = 30_000
SENTENCE_ENDS = (".", "?", "!", "…", "。", "？", "！")


class AssemblyAITranscriber(VendorTranscriber):
    """Uploads the file, hands the job in, and reads sentences and speakers from the answer."""

    name = "assemblyai"
    # List prices of October 2026: 0.21 for the first model, 0.02 for telling speakers apart.
    usd_per_hour = 0.23
    vendor = "AssemblyAI"
    url = "https://api.assemblyai.com"
    jobs = "/v2/transcript"
    key_header = "authorization"
    key_setting = "ASSEMBLYAI_API_KEY"
    url_setting = "ASSEMBLYAI_BASE_URL"

    def _upload(self, audio: Path) -> str:
        with audio.open("rb") as file:
            answer = self._api.ask("POST", "/v2/upload", content=file)
        return str(answer["upload_url"])

    def _submit(self, audio_url: str, intent: str, *, language: str) -> str:
        job: dict[str, Any] = {"audio_url": audio_url, "speech_models": MODELS}
        job["speaker_labels"] = True
        if language:
            job["language_code"] = language
        else:
            job["language_detection"] = True
        return str(self._api.ask("POST", self.jobs, json=job)["id"])

    def _find(self, audio_url: str, intent: str, *, since: datetime) -> str | None:
        # An upload's address is its own, so that it tells the job.
        jobs = self._jobs(since)
        return next((str(job["id"]) for job in jobs if job["audio_url"] == audio_url), None)

    def _jobs(self, since: datetime) -> Iterator[Mapping[str, Any]]:
        """The jobs of this account since then, newest first."""
        older_than: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            asked = {"limit": PAGE, **older_than}
            jobs = self._api.ask("GET", self.jobs, params=asked)["transcripts"]
            yield from jobs
            if len(jobs) < PAGE or _moment(jobs[-1]["created"]) < since:
                return
            older_than = {"before_id": jobs[-1]["id"]}

    def _look(self, ref: str) -> Transcript | None:
        job = self._api.ask("GET", f"{self.jobs}/{ref}")
        if job["status"] in ("queued", "processing"):
            return None
        if job["status"] == "error":
            raise self._api.failure(str(job.get("error") or ""))
        if job["status"] != "completed":
            raise ValueError(f"a job of status {job['status']!r}")
        language = str(job.get("language_code") or "").partition("_")[0]
        return Transcript(segments=tuple(_segments(job)), language=language)


def _segments(job: Mapping[str, Any]) -> Iterator[Segment]:
    """The sentences of every turn; speakers are told apart only where there are several."""
    turns = job.get("utterances") or [{"text": job["text"] or "", "words": job["words"] or []}]
    are_several = len({turn.get("speaker") for turn in turns}) > 1
    for turn in turns:
        speaker = f"Speaker {turn['speaker']}" if are_several else ""
        for text, words in _sentences(turn["text"], turn["words"]):
            yield Segment(
                start_sec=words[0]["start"] / 1000,
                end_sec=words[-1]["end"] / 1000,
                text=text,
                speaker=speaker,
            )


def _sentences(text: str, words: Sequence[Word]) -> Iterator[tuple[str, Sequence[Word]]]:
    """A turn, which may last an hour, in pieces of its own text with the words of each."""
    begun = first = 0
    for index, end in enumerate(_word_ends(text, words)):
        word = words[index]
        is_long = word["end"] - words[first]["start"] > LONGEST_SENTENCE_MS
        if is_long or index + 1 == len(words) or word["text"].endswith(SENTENCE_ENDS):
            yield text[begun:end].strip(), words[first : index + 1]
            begun, first = end, index + 1


def _word_ends(text: str, words: Sequence[Word]) -> Iterator[int]:
    """Where each word ends in the text; one that does not stand there ends with the one before."""
    end = 0
    for word in words[:-1]:
        found = text.find(word["text"], end)
        end = found + len(word["text"]) if found >= 0 else end
        yield end
    if words:
        yield len(text)


def _moment(written: str) -> datetime:
    moment = datetime.fromisoformat(written)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
