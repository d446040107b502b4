"""Whisper, run on this machine: speech becomes text with no key and no network."""

import os
import threading
from pathlib import Path
from typing import Any

from knowledge.providers.protocols import Notebook, Transcript
from knowledge.providers.speech_process import SpeechProcess
from knowledge.providers.speech_windows import as_transcript, hear_windows
from knowledge.providers.whisper_model import WhisperModel, not_english

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
        self._loaded: WhisperModel | SpeechProcess | None = None

    def transcribe(self, audio: Path, notebook: Notebook, *, language: str = "") -> Transcript:
        """The transcript, taken up where the notes end."""
        model = self._model()
        notes = hear_windows(
            audio,
            notebook,
            model.transcribe_window,
            folder=self._home / "sound",
            language=model.language_code(language),
        )
        _refuse_what_is_not_understood(notes, model)
        return as_transcript(notes)

    def _model(self) -> WhisperModel | SpeechProcess:
        with self._loading:
            if self._loaded is None:
                # A name may have to be downloaded, and that process has no way to the network.
                is_here = not self._choice or Path(self._choice).is_dir()
                kind = SpeechProcess if is_here else WhisperModel
                if is_here and self._choice:  # that process works in another folder
                    self._choice = str(Path(self._choice).resolve())
                self._loaded = kind(self._choice, self._home / "models", threads=self._threads)
            return self._loaded


def _refuse_what_is_not_understood(
    notes: dict[str, Any], model: WhisperModel | SpeechProcess
) -> None:
    """The English model would answer other languages, and songs, with English that nobody said."""
    spoken, sure = notes.get("speech_sec", 0.0), notes.get("sure_sec", 0.0)
    if model.is_english_alone and spoken >= SHORTEST_SPEECH_SEC and sure < LEAST_SURE * spoken:
        raise not_english("what is spoken in this recording does not sound like it")
