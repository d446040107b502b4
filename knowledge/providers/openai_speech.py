"""Transcription by any server that speaks OpenAI's protocol."""

import io
import time
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from django.conf.locale import LANG_INFO

from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.providers.known_models import USD_PER_HOUR
from knowledge.providers.openai_api import OpenAIServer
from knowledge.providers.protocols import Notebook, Transcript
from knowledge.providers.retrying import ask_with_retries
from knowledge.providers.speech_windows import Heard, as_transcript, hear_windows
from knowledge.sources.audio import RATE
from knowledge.sources.extracted import Segment
from knowledge.sources.silence import Samples

WINDOW_SEC = 600.0
"""For one window, of at most two minutes of sound; a processor may need as long as it lasts."""

ATTEMPTS = 4

TRY_SEC = 30.0

_PLAIN = {"response_format": "json"}
_WITH_TIMES = {"response_format": "verbose_json", "timestamp_granularities[]": "segment"}

_CODES = {
    str(about["name"]).lower(): code for code, about in LANG_INFO.items() if "name" in about
} | {"chinese": "zh", "norwegian": "no"}


class OpenAITranscriber:
    """Sends a recording in windows cut in pauses, because servers limit the size of a file."""

    name = "openai"

    def __init__(
        self,
        server: OpenAIServer,
        *,
        home: Path,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.usd_per_hour = USD_PER_HOUR.get(server.model, 0.0)
        self._server = server
        self._home = home
        self._sleep = sleep
        self._tells_times = True

    def transcribe(self, audio: Path, notebook: Notebook, *, language: str = "") -> Transcript:
        """The transcript, taken up where the notes end; at most one window is paid for twice."""
        notes = hear_windows(
            audio,
            notebook,
            self._hear,
            folder=self._home / "sound",
            language=language.replace("_", "-").partition("-")[0].lower(),
        )
        return as_transcript(notes)

    def try_out(self) -> None:
        """Send a second of silence, once."""
        self._send(np.zeros(RATE, np.int16), _PLAIN, seconds=TRY_SEC)

    def _hear(self, samples: Samples, language: str) -> Heard:
        """What is said in one window, in seconds from its start."""
        answer = self._ask(samples, language)
        try:
            segments = list(_segments(answer, len(samples) / RATE))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise self._server.unusable("no transcript") from error
        return Heard(segments=segments, language=_code(answer.get("language")) or language)

    def _ask(self, samples: Samples, language: str) -> dict[str, Any]:
        form = _WITH_TIMES if self._tells_times else _PLAIN
        if language:
            form = form | {"language": language}
        try:
            return ask_with_retries(
                lambda: self._send(samples, form, seconds=WINDOW_SEC), ATTEMPTS, self._sleep
            )
        except ProviderUnavailable as error:
            if error.details.get("status") not in (400, 422):
                raise
            if not self._tells_times:
                raise IngestFailed(error.message, reason="transcription_failed") from error
        self._tells_times = False  # some models write text alone
        return self._ask(samples, language)

    def _send(self, samples: Samples, form: dict[str, str], *, seconds: float) -> dict[str, Any]:
        return self._server.ask(
            "/audio/transcriptions",
            seconds=seconds,
            data={"model": self._server.model, **form},
            files={"file": ("window.wav", _as_wave(samples), "audio/wav")},
        )


def _as_wave(samples: Samples) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


def _segments(answer: dict[str, Any], seconds: float) -> Iterator[Segment]:
    """The segments that were told, or the whole text over the whole window."""
    told = answer.get("segments") or [{"start": 0.0, "end": seconds, "text": answer["text"]}]
    for segment in told:
        text = str(segment["text"]).strip()
        if any(map(str.isalnum, text)) and not _is_made_up(segment):
            start = min(max(float(segment["start"]), 0.0), seconds)
            end = min(max(float(segment["end"]), start), seconds)
            yield Segment(start_sec=start, end_sec=end, text=text)


def _is_made_up(segment: dict[str, Any]) -> bool:
    """Whether Whisper itself doubts that anybody spoke: of silence it makes phrases."""
    doubt, certainty = segment.get("no_speech_prob") or 0.0, segment.get("avg_logprob") or 0.0
    return float(doubt) > 0.6 and float(certainty) < -1.0


def _code(language: object) -> str:
    """Two letters, of a language that some servers name and others abbreviate."""
    told = str(language or "").strip().lower()
    return _CODES.get(told, told[:2] if len(told) in (2, 5) else "")
