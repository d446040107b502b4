from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.providers import transcriber_named
from knowledge.providers.openai_speech import OpenAITranscriber
from tests.support.notebooks import Killed, Paper
from tests.support.recordings import silence, speech, written
from tests.support.wire.openai import OpenAI, as_json, openai_error

SAID = {"start": 0.5, "end": 2.0, "text": " Granit ist hart. ", "no_speech_prob": 0.1}
MADE_UP = {"start": 2.0, "end": 3.0, "text": "Danke.", "no_speech_prob": 0.9, "avg_logprob": -1.5}


@pytest.fixture
def vendor(httpserver: HTTPServer) -> Iterator[OpenAI]:
    vendor = OpenAI(httpserver)
    vendor.speech, vendor.language = [SAID, MADE_UP], "german"
    yield vendor
    httpserver.check_assertions()


@pytest.fixture(scope="module")
def lecture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two windows of speech."""
    parts = [speech(), silence(45), speech(), silence(70), speech()]
    return written(tmp_path_factory.mktemp("media") / "lecture.wav", np.concatenate(parts))


def transcriber(vendor: OpenAI, home: Path) -> OpenAITranscriber:
    server = vendor.server_of("whisper-1")
    return OpenAITranscriber(server, home=home, sleep=vendor.waits.append)


def test_a_recording_is_sent_in_windows_and_its_language_found(vendor, lecture, tmp_path):
    transcript = transcriber(vendor, tmp_path).transcribe(lecture, Paper())

    assert transcript.language == "de"
    assert len(vendor.requests) == len(transcript.segments) > 1
    assert {segment.text for segment in transcript.segments} == {"Granit ist hart."}
    assert transcript.segments[0].start_sec == 0.5
    assert transcript.segments[1].start_sec > 30
    assert [request.get("language", "") for request in vendor.requests][:2] == ["", "de"]


def test_a_killed_worker_loses_one_window(vendor, lecture, tmp_path):
    notes = Paper(killed_after=1)
    with pytest.raises(Killed):
        transcriber(vendor, tmp_path).transcribe(lecture, notes, language="de-AT")
    done = len(vendor.requests)

    again = Paper(notes.kept)
    whole = transcriber(vendor, tmp_path).transcribe(lecture, again, language="de-AT")

    assert (done, vendor.requests[0]["language"]) == (1, "de")
    assert len(vendor.requests) == len(whole.segments)


def test_a_model_that_tells_no_times_gives_the_text_of_each_window(vendor, lecture, tmp_path):
    words = "response_format 'verbose_json' is not compatible with model"
    vendor.answers = {"speech": [openai_error(400, words)]}

    transcript = transcriber(vendor, tmp_path).transcribe(lecture, Paper())

    assert vendor.requests[0]["response_format"] == "verbose_json"
    assert transcript.segments[1].start_sec > 30


def test_a_limit_is_waited_out_and_what_cannot_be_transcribed_says_so(vendor, lecture, tmp_path):
    vendor.answers = {"speech": [openai_error(429, "slow down", **{"Retry-After": "3"})]}
    transcriber(vendor, tmp_path).transcribe(lecture, Paper())
    assert vendor.waits == [3]

    broken = [openai_error(400, "Audio file might be corrupted") for _ in range(2)]
    vendor.answers = {"speech": broken}
    with pytest.raises(IngestFailed, match="corrupted"):
        transcriber(vendor, tmp_path).transcribe(lecture, Paper())

    vendor.answers, vendor.speech = {}, []
    with pytest.raises(IngestFailed, match="Nobody speaks"):
        transcriber(vendor, tmp_path).transcribe(lecture, Paper())

    vendor.answers = {"speech": [as_json({"segments": [{"text": "Hm"}]}), Response("no")]}
    with pytest.raises(ProviderUnavailable, match="cannot be used"):
        transcriber(vendor, tmp_path).transcribe(lecture, Paper())


def test_a_server_is_tried_once_and_told_nothing_that_some_models_refuse(vendor, tmp_path):
    transcriber(vendor, tmp_path).try_out()
    assert vendor.requests[0]["response_format"] == "json"

    vendor.answers = {"speech": [openai_error(503, "loading")]}
    with pytest.raises(ProviderUnavailable, match="loading"):
        transcriber(vendor, tmp_path).try_out()
    assert (len(vendor.requests), vendor.waits) == (2, [])


def test_a_recording_that_was_begun_by_a_server_goes_on_with_the_one_there_is(settings):
    settings.QUARRY_OPENAI_URL = "http://gpu:8000"
    settings.QUARRY_TRANSCRIBER = "openai:whisper-large"
    found = transcriber_named("openai")
    assert isinstance(found, OpenAITranscriber)
    assert found._server.model == "whisper-large"

    settings.QUARRY_TRANSCRIBER = "whisper"
    with pytest.raises(ProviderUnavailable, match="configured no more"):
        transcriber_named("openai")
