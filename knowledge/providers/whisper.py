"""Whisper, run on this machine: speech becomes text with no key and no network."""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.errors import IngestFailed
from knowledge.providers.protocols import Notebook, Transcript
from knowledge.providers.whisper_model import WhisperModel, not_english
from knowledge.sources.audio import DECODE_SEC, RATE, decode
from knowledge.sources.extracted import Segment
from knowledge.sources.silence import Samples, windows

LEAST_SURE = 0.3
"""The share of the speech that the English model must be sure of, or else it is not English."""
SHORTEST_SPEECH_SEC = 1.0


class WhisperTranscriber:
    """Transcribes window by window and notes each, so that a killed worker loses only one."""

    name = "whisper"
    usd_per_hour = 0.0

    def __init__(self, *, home: Path, model: str = "", threads: int | None = None) -> None:
        """Keep what must be kept under `home`; `model` is a folder, a name, or the one we carry."""
        self._home = home
        self._choice = model
        self._threads = threads or os.cpu_count() or 1
        self._loading = threading.Lock()
        self._loaded: WhisperModel | None = None

    def transcribe(self, audio: Path, notebook: Notebook, *, language: str = "") -> Transcript:
        """The transcript, taken up where the notes end."""
        model = self._model()
        notes = notebook.read() or {
            "until": 0,
            "language": model.language_code(language),
            "segments": [],
            "speech_sec": 0.0,
            "sure_sec": 0.0,
        }
        with _decode_to_samples(audio, self._home / "sound") as samples:
            for start, end in windows(samples, RATE, start=notes["until"]):
                notes = _with_window(notes, model, samples[start:end], start)
                notebook.write(notes, percent=100 * end // len(samples))
        _refuse_what_is_not_understood(notes, model)
        segments = tuple(Segment(**segment) for segment in notes["segments"])
        return Transcript(segments=segments, language=notes["language"])

    def _model(self) -> WhisperModel:
        with self._loading:
            if self._loaded is None:
                models = self._home / "models"
                self._loaded = WhisperModel(self._choice, models, threads=self._threads)
            return self._loaded


def _refuse_what_is_not_understood(notes: dict[str, Any], model: WhisperModel) -> None:
    """The English model would answer other languages, and songs, with English that nobody said."""
    spoken, sure = notes.get("speech_sec", 0.0), notes.get("sure_sec", 0.0)
    if model.is_english_alone and spoken >= SHORTEST_SPEECH_SEC and sure < LEAST_SURE * spoken:
        raise not_english("what is spoken in this recording does not sound like it")
    if not notes["segments"]:
        raise IngestFailed(
            "Nobody speaks in this recording; send one with speech.", reason="no_speech"
        )


def _with_window(
    notes: dict[str, Any], model: WhisperModel, samples: Samples, start: int
) -> dict[str, Any]:
    """The notes with what was said in one more window, in seconds of the whole."""
    window = model.transcribe_window(samples, notes["language"])
    offset = start / RATE
    heard = [
        asdict(segment)
        | {
            "start_sec": round(offset + segment.start_sec, 2),
            "end_sec": round(offset + segment.end_sec, 2),
        }
        for segment in window.segments
    ]
    return {
        "until": start + len(samples),
        "language": window.language if heard else notes["language"],
        "segments": notes["segments"] + heard,
        "speech_sec": round(notes.get("speech_sec", 0.0) + window.speech_sec, 2),
        "sure_sec": round(notes.get("sure_sec", 0.0) + window.sure_sec, 2),
    }


@contextmanager
def _decode_to_samples(audio: Path, folder: Path) -> Iterator[Samples]:
    """The recording's samples, read from the disk as they are needed; they leave no file behind."""
    folder.mkdir(parents=True, exist_ok=True)
    _clear(folder)
    handle, name = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "rb") as file:
        try:
            decode(audio, Path(name))
        finally:
            os.unlink(name)
        yield np.memmap(file, np.dtype("<i2"), mode="r")


def _clear(folder: Path) -> None:
    """Remove what a worker that was killed while decoding has left."""
    long_ago = time.time() - 2 * DECODE_SEC
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another worker has just finished with it
            if path.stat().st_mtime < long_ago:
                path.unlink()
