"""A recording heard window by window, each noted, so that a killed worker loses only one."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from knowledge.errors import IngestFailed
from knowledge.providers.protocols import Notebook, Transcript
from knowledge.sources.audio import DECODE_SEC, RATE, decode
from knowledge.sources.extracted import Segment
from knowledge.sources.silence import Samples, windows


class Heard(NamedTuple):
    """A window's segments, the seconds of speech in it, and how many of these are certain."""

    segments: list[Segment]
    language: str
    speech_sec: float = 0.0
    sure_sec: float = 0.0


def hear_windows(
    audio: Path,
    notebook: Notebook,
    hear: Callable[[Samples, str], Heard],
    *,
    folder: Path,
    language: str,
) -> dict[str, Any]:
    """The notes of the whole recording, taken up where they end; sound is unpacked in `folder`."""
    notes = notebook.read() or {
        "until": 0,
        "language": language,
        "segments": [],
        "speech_sec": 0.0,
        "sure_sec": 0.0,
    }
    with _decode_to_samples(audio, folder) as samples:
        for start, end in windows(samples, RATE, start=notes["until"]):
            heard = hear(samples[start:end], notes["language"])
            notes = _with_window(notes, heard, start=start, end=end)
            notebook.write(notes, percent=100 * end // len(samples))
    return notes


def as_transcript(notes: dict[str, Any]) -> Transcript:
    """What was said, unless nobody spoke."""
    if not notes["segments"]:
        raise IngestFailed(
            "Nobody speaks in this recording; send one with speech.", reason="no_speech"
        )
    segments = tuple(Segment(**segment) for segment in notes["segments"])
    return Transcript(segments=segments, language=notes["language"])


def _with_window(notes: dict[str, Any], window: Heard, *, start: int, end: int) -> dict[str, Any]:
    """The notes with what was said in one more window, in seconds of the whole."""
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
        "until": end,
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
