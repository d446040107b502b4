"""A transcription that a vendor does for money: handed in once, then asked for until it is done."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from knowledge.errors import IngestFailed
from knowledge.providers.protocols import Notebook, StillTranscribing, Transcript
from knowledge.providers.vendor_api import VendorApi

SOONEST_SEC = 3.0
LATEST_SEC = 30.0
WAIT_OF_AGE = 0.25
"""The older a job, the longer until the next look."""

LONGEST_JOB_SEC = 6 * 3600
SETTLING_SEC = 5.0
"""How long a vendor may take to list a job that it was handed."""

UPLOAD_LASTS_SEC = 3600
CLOCKS_DIFFER = timedelta(hours=1)

LANGUAGES = frozenset(
    ("de", "en", "es", "fi", "fr", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "uk")
)
"""What may be told beforehand; both vendors find any other language out by themselves."""


class VendorTranscriber(ABC):
    """Common to all vendors: the notes, written in an order that makes paying twice impossible.

    Notes go from nothing to {audio_url, intent, intended_at}, written before the job is handed
    in, to those and {ref, submitted_at}, written at once after. If there is an intent without a
    ref, the vendor's list of jobs is asked first.
    """

    name: str
    usd_per_hour: float

    vendor: str
    url: str
    jobs: str
    """Where the jobs of an account are listed."""
    key_header: str
    key_setting: str
    url_setting: str

    def __init__(
        self,
        key: str,
        *,
        base_url: str = "",
        seconds: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._api = VendorApi(
            vendor=self.vendor,
            base_url=base_url or self.url,
            key=key,
            key_header=self.key_header,
            key_setting=self.key_setting,
            url_setting=self.url_setting,
            seconds=seconds,
        )
        self._clock = clock

    def transcribe(self, audio: Path, notebook: Notebook, *, language: str = "") -> Transcript:
        """The transcript once the vendor has it; one look at the job for each call."""
        notes = notebook.read()
        if "ref" not in notes:
            notes = self._submit_job(audio, notebook, notes, language=language)
        with self._usable_answers():
            transcript = self._look(notes["ref"])
        if transcript is None:
            raise self._still_at_work(self._clock() - notes["submitted_at"])
        if not transcript.segments:
            raise IngestFailed(
                "Nobody speaks in this recording; send one with speech.", reason="no_speech"
            )
        return transcript

    def try_out(self) -> None:
        """Ask for one of the account's jobs, which costs nothing."""
        self._api.ask("GET", self.jobs, params={"limit": 1})

    @abstractmethod
    def _upload(self, audio: Path) -> str:
        """Send the file; the address by which the vendor knows it."""

    @abstractmethod
    def _submit(self, audio_url: str, intent: str, *, language: str) -> str:
        """Hand the job in, which costs money; its reference."""

    @abstractmethod
    def _find(self, audio_url: str, intent: str, *, since: datetime) -> str | None:
        """The reference of the job for that upload, if it was handed in at `since` or later."""

    @abstractmethod
    def _look(self, ref: str) -> Transcript | None:
        """The job's transcript, or None while the vendor works."""

    def _submit_job(
        self, audio: Path, notebook: Notebook, notes: dict[str, Any], *, language: str
    ) -> dict[str, Any]:
        ref = self._find_submitted(notes) if "intent" in notes else None
        if ref is None:
            notes = self._note_intent(audio, notebook, notes)
            with self._usable_answers():
                ref = self._submit(notes["audio_url"], notes["intent"], language=_hint(language))
        notes = notes | {"ref": ref, "submitted_at": self._clock()}
        notebook.write(notes)
        return notes

    def _find_submitted(self, notes: dict[str, Any]) -> str | None:
        """The job of an earlier run that was submitted, but died before it noted the reference."""
        if 0 <= (age := self._clock() - notes["intended_at"]) < SETTLING_SEC:
            raise StillTranscribing(SETTLING_SEC - age)
        since = datetime.fromtimestamp(notes["intended_at"], UTC) - CLOCKS_DIFFER
        with self._usable_answers():
            return self._find(notes["audio_url"], notes["intent"], since=since)

    def _note_intent(
        self, audio: Path, notebook: Notebook, notes: dict[str, Any]
    ) -> dict[str, Any]:
        """Notes that say what will be handed in, kept before it is."""
        now = self._clock()
        if now - notes.get("uploaded_at", 0) < UPLOAD_LASTS_SEC:
            notes = notes | {"intended_at": now}
        else:
            with self._usable_answers():
                audio_url = self._upload(audio)
            now = self._clock()
            notes = {"audio_url": audio_url, "intent": uuid4().hex}
            notes |= {"uploaded_at": now, "intended_at": now}
        notebook.write(notes)
        return notes

    @contextmanager
    def _usable_answers(self) -> Iterator[None]:
        """Within, whatever is missing from an answer or odd in it is the vendor's failure."""
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise self._api.unusable() from error

    def _still_at_work(self, age: float) -> Exception:
        if age > LONGEST_JOB_SEC:
            hours = LONGEST_JOB_SEC // 3600
            return IngestFailed(
                f"{self._api.vendor} has not finished in {hours} hours; retry the item.",
                reason="timed_out",
            )
        return StillTranscribing(min(LATEST_SEC, max(SOONEST_SEC, age * WAIT_OF_AGE)))


def _hint(language: str) -> str:
    spoken = language.replace("_", "-").partition("-")[0].lower()
    return spoken if spoken in LANGUAGES else ""
