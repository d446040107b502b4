"""The local speech model in a process of its own, which ends when nothing was heard for a while."""

import weakref
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.providers.speech_windows import Heard
from knowledge.providers.whisper_model import WhisperModel
from knowledge.sources.extracted import Segment
from knowledge.sources.parsers.frames import Frame
from knowledge.sources.readers import Readers
from knowledge.sources.silence import Samples

IDLE_SEC = 60
WINDOW_SEC = 3_600
"""The longest that the largest model may take for one window, which is half a minute of speech."""
MEGABYTES = 32_000
"""Of address space; how much of it is used depends on the model, which the operator chooses."""

_KINDS: dict[str, type[IngestFailed] | type[ProviderUnavailable]] = {
    "IngestFailed": IngestFailed,
    "ProviderUnavailable": ProviderUnavailable,
}


class SpeechProcess:
    """Hears as a `WhisperModel` does; the process starts when it is needed."""

    def __init__(self, choice: str, models: Path, *, threads: int) -> None:
        self._model = {"choice": choice, "models": str(models), "threads": threads}
        self._readers = Readers(1, idle_seconds=IDLE_SEC, megabytes=MEGABYTES)
        weakref.finalize(self, self._readers.close)

    def language_code(self, language: str) -> str:
        """The language as the model calls it; empty when it shall find out by itself."""
        return str(self._ask({"code_of": language})["code"])

    @property
    def is_english_alone(self) -> bool:
        return bool(self._ask({"code_of": ""})["is_english_alone"])

    def transcribe_window(self, samples: Samples, language: str) -> Heard:
        """What is said in one window, in seconds from its start."""
        heard = self._ask({"language": language}, np.asarray(samples, np.int16).tobytes())["heard"]
        return Heard(**{**heard, "segments": [Segment(**each) for each in heard["segments"]]})

    def _ask(self, request: dict[str, Any], *blobs: bytes) -> dict[str, Any]:
        asked = {**request, "model": self._model}
        try:
            given = self._readers.call(f"{__name__}:hear", asked, *blobs, seconds=WINDOW_SEC).value
        except ProviderUnavailable as error:
            raise ProviderUnavailable(
                "The local speech model does not run; see QUARRY_WHISPER_MODEL and the worker's "
                "log.",
                may_pass=True,
            ) from error
        if refused := given.get("refused"):
            raise _KINDS[refused["kind"]](refused["message"], **refused["details"])
        answer: dict[str, Any] = given
        return answer


def hear(asked: Frame) -> Frame:
    """What the model hears or knows, in its process."""
    try:
        return Frame(_answer(asked))
    except (IngestFailed, ProviderUnavailable) as error:
        told = {"kind": type(error).__name__, "message": error.message, "details": error.details}
        return Frame({"refused": told})


def _answer(asked: Frame) -> dict[str, Any]:
    model = _model(**asked.value["model"])
    if "code_of" in asked.value:
        code = model.language_code(asked.value["code_of"])
        return {"code": code, "is_english_alone": model.is_english_alone}
    samples = np.frombuffer(asked.blobs[0], np.int16)
    heard = model.transcribe_window(samples, asked.value["language"])
    return {"heard": {**heard._asdict(), "segments": [asdict(each) for each in heard.segments]}}


@cache
def _model(choice: str, models: str, threads: int) -> WhisperModel:
    return WhisperModel(choice, Path(models), threads=threads)
