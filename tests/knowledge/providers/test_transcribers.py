"""AssemblyAI and Gladia against local servers of their wire formats: paid for once, always."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from socket import socket
from threading import Event
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.providers.assemblyai import AssemblyAITranscriber
from knowledge.providers.gladia import GladiaTranscriber
from knowledge.providers.protocols import StillTranscribing, Transcript
from knowledge.sources.extracted import Segment
from tests.support.wire.assemblyai import AssemblyAI, completed
from tests.support.wire.gladia import Gladia, done
from tests.support.wire.speech import SpeechVendor, as_json

KEY = "sk-very-secret"
ASKED: dict[str, dict[str, Any]] = {
    "assemblyai": {
        "speaker_labels": True,
        "language_detection": True,
        "speech_models": ["universal-3-5-pro", "universal-2"],
    },
    "gladia": {"diarization": True},
}
HEARD = (
    Segment(start_sec=0.5, end_sec=1.5, text="Granite is hard."),
    Segment(start_sec=1.7, end_sec=2.1, text="Very."),
    Segment(start_sec=4.0, end_sec=5.0, text="Chalk is soft."),
)


class Killed(BaseException):
    """The worker dies here."""


class Paper:
    """A notebook that keeps only JSON, and whose holder may be killed at a certain write."""

    def __init__(self, killed_at: int = 0) -> None:
        self.kept = "{}"
        self.writes = 0
        self.killed_at = killed_at

    def read(self) -> dict[str, Any]:
        notes: dict[str, Any] = json.loads(self.kept)
        return notes

    def write(self, notes: Mapping[str, Any], *, percent: int | None = None) -> None:
        self.writes += 1
        if self.writes == self.killed_at:
            raise Killed
        self.kept = json.dumps(notes)


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Case:
    """One vendor, its stand-in, and a transcriber that talks to it."""

    def __init__(self, name: str, server: HTTPServer, audio: Path) -> None:
        self.name = name
        self.audio = audio
        self.clock = Clock()
        self.vendor: SpeechVendor = AssemblyAI(server) if name == "assemblyai" else Gladia(server)
        self.transcriber = self.made()

    def made(self, *, key: str = KEY, url: str = "", seconds: float = 5.0) -> Any:
        make = AssemblyAITranscriber if self.name == "assemblyai" else GladiaTranscriber
        return make(key, base_url=url or self.vendor.url, seconds=seconds, clock=self.clock)

    def call(self, notebook: Paper, **how: str) -> Transcript:
        transcript: Transcript = self.transcriber.transcribe(self.audio, notebook, **how)
        return transcript

    def finish(self, notebook: Paper) -> Transcript:
        """Call as a worker would, as often as told, waiting as long as told."""
        for _ in range(20):
            try:
                return self.call(notebook)
            except StillTranscribing as wait:
                self.clock.now += wait.retry_after_sec
            except ProviderUnavailable as outage:
                if not outage.details["may_pass"]:
                    raise
                self.clock.now += 10
        raise AssertionError("it never ended")


@pytest.fixture(params=["assemblyai", "gladia"])
def case(request: pytest.FixtureRequest, httpserver: HTTPServer, tmp_path: Path) -> Iterator[Case]:
    audio = tmp_path / "talk.mp3"
    audio.write_bytes(b"sound " * 50_000)
    yield Case(request.param, httpserver, audio)
    httpserver.check_assertions()


def test_a_recording_is_uploaded_submitted_and_asked_for_until_it_is_done(case):
    notebook = Paper()
    with pytest.raises(StillTranscribing) as wait:
        case.call(notebook)

    transcript = case.call(notebook)

    assert [segment.text for segment in transcript.segments] == [one.text for one in HEARD]
    assert [segment.start_sec for segment in transcript.segments] == [0.5, 1.7, 4.0]
    assert [segment.end_sec for segment in transcript.segments] == [1.5, 2.1, 5.0]
    assert transcript.language == "en"
    assert wait.value.retry_after_sec == 3
    assert list(case.vendor.uploads.values()) == [case.audio.read_bytes()]
    assert case.vendor.keys == {KEY}
    [asked] = case.vendor.submissions
    assert asked["audio_url"] in case.vendor.uploads
    asked.pop("custom_metadata", None)
    assert asked == {"audio_url": asked["audio_url"], **ASKED[case.name]}
    assert notebook.read()["ref"] == "job-1"


def test_the_longer_a_job_takes_the_later_is_the_next_look(case):
    case.vendor.looks_needed = 9
    notebook = Paper()
    waits = []
    for _ in range(9):
        with pytest.raises(StillTranscribing) as wait:
            case.call(notebook)
        waits.append(wait.value.retry_after_sec)
        case.clock.now += 20

    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (3, 30)
    assert len(case.vendor.submissions) == 1


def test_a_worker_killed_before_it_noted_the_job_finds_it_again(case):
    notebook = Paper(killed_at=2)
    with pytest.raises(Killed):
        case.call(notebook)
    assert len(case.vendor.submissions) == 1
    assert "ref" not in notebook.read()

    transcript = case.finish(notebook)

    assert len(transcript.segments) == 3
    assert len(case.vendor.submissions) == 1
    assert len(case.vendor.uploads) == 1


def test_a_worker_killed_before_it_submitted_lets_the_next_one_submit(case):
    notebook = Paper(killed_at=1)
    with pytest.raises(Killed):
        case.call(notebook)
    assert case.vendor.submissions == []

    case.finish(notebook)

    assert len(case.vendor.submissions) == 1


@pytest.mark.parametrize(
    "lost",
    [
        Response("oops", 500),
        Response("<html>", 200, content_type="text/html"),
        as_json({}),
        as_json([]),
        as_json({"error": "slow down"}, 429),
    ],
    ids=["500", "not JSON", "no id", "a list", "429"],
)
def test_a_submission_whose_answer_was_lost_is_found_and_not_made_again(case, lost):
    case.vendor.lost["submit"] = [lost]

    transcript = case.finish(Paper())

    assert len(transcript.segments) == 3
    assert len(case.vendor.submissions) == 1


def test_the_list_is_asked_only_once_the_vendor_had_time_to_fill_it(case):
    case.vendor.lost["submit"] = [Response("oops", 500)]
    notebook = Paper()
    with pytest.raises(ProviderUnavailable):
        case.call(notebook)
    case.clock.now += 1

    with pytest.raises(StillTranscribing) as wait:
        case.call(notebook)

    assert wait.value.retry_after_sec == 4


def test_what_the_vendor_never_got_is_submitted_with_the_same_upload(case):
    case.vendor.failures["submit"] = [Response("oops", 503)]

    case.finish(Paper())

    assert len(case.vendor.submissions) == 1
    assert len(case.vendor.uploads) == 1


def test_an_upload_that_is_too_old_is_made_again(case):
    case.vendor.failures["submit"] = [Response("oops", 503)]
    notebook = Paper()
    with pytest.raises(ProviderUnavailable):
        case.call(notebook)
    case.clock.now += 24 * 3600

    case.finish(notebook)

    assert len(case.vendor.submissions) == 1
    assert len(case.vendor.uploads) == 2


def test_somebody_elses_job_is_not_taken_for_ours(case):
    other = Paper()
    case.finish(other)
    notebook = Paper(killed_at=2)
    with pytest.raises(Killed):
        case.call(notebook)

    case.finish(notebook)

    assert notebook.read()["ref"] == "job-2"
    assert len(case.vendor.submissions) == 2


def test_a_call_after_the_end_asks_again_and_submits_nothing(case):
    notebook = Paper()
    first = case.finish(notebook)

    assert case.call(notebook) == first
    assert len(case.vendor.submissions) == 1


def test_a_known_language_is_told_and_another_left_to_be_found(case):
    case.vendor.looks_needed = 0
    case.call(Paper(), language="de-AT")
    case.call(Paper(), language="tlh")

    german, klingon = case.vendor.submissions
    if case.name == "assemblyai":
        assert german["language_code"] == "de"
        assert "language_detection" not in german
        assert klingon["language_detection"] is True
    else:
        assert german["language_config"] == {"languages": ["de"]}
        assert "language_config" not in klingon


def test_several_speakers_are_told_apart_and_one_is_not(case):
    case.vendor.looks_needed = 0
    both = [segment.speaker for segment in case.call(Paper()).segments]
    if case.name == "assemblyai":
        case.vendor.result = completed([("Alone.", 0, 900, "A")])
    else:
        case.vendor.result = done([("Alone.", 0.0, 0.9, 0)])

    [alone] = case.call(Paper()).segments

    assert both[0] == both[1] != both[2]
    assert both[0].startswith("Speaker ")
    assert alone.speaker == ""


VERBS = ("upload", "submit", "look")
PASSING: dict[str, Callable[[], Response]] = {
    "500": lambda: Response("oops", 500),
    "503": lambda: as_json({"message": "maintenance"}, 503),
    "408": lambda: Response("", 408),
    "429": lambda: as_json({"error": "Too many requests"}, 429, **{"Retry-After": "17"}),
    "not JSON": lambda: Response("<html>hello", content_type="text/html"),
    "half JSON": lambda: Response('{"id": "jo', content_type="application/json"),
    "not UTF-8": lambda: Response(b"\xff\xfe", content_type="application/json"),
    "null": lambda: as_json(None),
    "a list": lambda: as_json([]),
    "empty": lambda: as_json({}),
    "a redirect": lambda: Response("", 302, {"Location": "/elsewhere"}),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("answer", PASSING)
def test_a_vendors_bad_day_may_pass_and_then_everything_goes_well(case, verb, answer):
    case.vendor.failures[verb] = [PASSING[answer]()]
    notebook = Paper()
    with pytest.raises(ProviderUnavailable, match="tried again later") as caught:
        case.call(notebook)
    case.clock.now += 10

    assert caught.value.details["may_pass"] is True
    if answer == "429":
        assert caught.value.details["retry_after_sec"] == 17
    assert len(case.finish(notebook).segments) == 3
    assert len(case.vendor.submissions) == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_its_setting_and_not_itself(case, verb, status):
    case.vendor.failures[verb] = [as_json({"error": f"bad key {KEY}"}, status)]

    with pytest.raises(ProviderUnavailable) as caught:
        case.call(Paper())

    told = f"{caught.value.message} {caught.value.details}"
    assert f"{case.name.upper()}_API_KEY" in told
    assert caught.value.details["may_pass"] is False
    assert KEY not in told


def test_a_vendor_is_tried_without_a_job(case):
    case.transcriber.try_out()
    assert case.vendor.submissions == []

    case.vendor.failures["list"] = [as_json({"error": "bad key"}, 401)]
    with pytest.raises(ProviderUnavailable, match=f"{case.name.upper()}_API_KEY"):
        case.transcriber.try_out()


def test_no_key_asks_nothing(case):
    case.transcriber = case.made(key="")

    with pytest.raises(ProviderUnavailable, match=f"{case.name.upper()}_API_KEY") as caught:
        case.call(Paper())

    assert caught.value.details["may_pass"] is False
    assert case.vendor.uploads == {}


@pytest.mark.parametrize("verb", ["upload", "submit"])
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (402, "Payment Required"),
        (400, "Your current account balance is negative. Please top up to continue."),
        (403, "You have reached your monthly usage limit"),
        (429, "Free quota exceeded"),
    ],
)
def test_an_account_that_is_used_up_is_said_clearly(case, verb, status, message):
    case.vendor.failures[verb] = [as_json({"error": message, "message": message}, status)]

    with pytest.raises(ProviderUnavailable, match="account is used up; top it up") as caught:
        case.call(Paper())

    assert caught.value.details["may_pass"] is False


def test_a_job_that_failed_there_fails_here_with_the_vendors_words(case):
    case.vendor.error = "Transcoding failed.\n File type is text/html " + "x" * 1_000

    with pytest.raises(IngestFailed, match=r"Transcoding failed\. File type") as caught:
        case.finish(Paper())

    assert caught.value.details["reason"] == "transcription_failed"
    assert len(caught.value.message) < 400


def test_a_refused_submission_fails_with_the_vendors_words(case):
    words = "audio is too short"
    case.vendor.failures["submit"] = [as_json({"error": words, "message": words}, 400)]

    with pytest.raises(IngestFailed, match=words) as caught:
        case.call(Paper())

    assert caught.value.details["reason"] == "transcription_failed"


def test_a_job_that_the_vendor_has_deleted_fails(case):
    notebook = Paper()
    case.finish(notebook)
    case.vendor.jobs.clear()

    with pytest.raises(IngestFailed, match="not found"):
        case.call(notebook)


def test_a_job_of_more_than_six_hours_fails(case):
    case.vendor.looks_needed = 1_000
    notebook = Paper()
    with pytest.raises(StillTranscribing):
        case.call(notebook)
    case.clock.now += 6 * 3600 + 1

    with pytest.raises(IngestFailed, match="6 hours") as caught:
        case.call(notebook)

    assert caught.value.details["reason"] == "timed_out"


def test_a_recording_without_a_word_has_no_speech(case):
    case.vendor.result = completed([]) if case.name == "assemblyai" else done([])

    with pytest.raises(IngestFailed) as caught:
        case.finish(Paper())

    assert caught.value.details["reason"] == "no_speech"


@pytest.mark.parametrize("broken", [{"utterances": 7}, {"utterances": [{"text": "x"}]}, {}])
def test_a_finished_job_that_cannot_be_read_may_pass(case, broken):
    case.vendor.looks_needed = 0
    case.vendor.result = broken if case.name == "assemblyai" else {"transcription": broken}

    with pytest.raises(ProviderUnavailable, match="cannot be used") as caught:
        case.call(Paper())

    assert caught.value.details["may_pass"] is True


@pytest.mark.parametrize("verb", ["submit", "look"])
def test_an_answer_that_does_not_come_in_time_may_pass(case, verb):
    case.vendor.held[verb] = Event()
    case.transcriber = case.made(seconds=0.3)
    notebook = Paper()
    with pytest.raises(ProviderUnavailable, match="did not answer") as caught:
        case.call(notebook)
    case.vendor.held.pop(verb).set()
    case.clock.now += 10
    case.transcriber = case.made()

    assert caught.value.details["may_pass"] is True
    assert len(case.finish(notebook).segments) == 3
    assert len(case.vendor.submissions) == 1


def test_a_vendor_that_is_not_there_may_pass(case):
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        case.transcriber = case.made(url=f"http://127.0.0.1:{silent.getsockname()[1]}")

        with pytest.raises(ProviderUnavailable, match="did not answer") as caught:
            case.call(Paper())

    assert caught.value.details["may_pass"] is True


def test_a_lost_job_is_found_on_a_later_page_of_the_list(httpserver, tmp_path, monkeypatch):
    monkeypatch.setattr("knowledge.providers.assemblyai.PAGE", 2)
    case = Case("assemblyai", httpserver, tmp_path / "talk.mp3")
    case.audio.write_bytes(b"sound")
    notebook = Paper(killed_at=2)
    with pytest.raises(Killed):
        case.call(notebook)
    for _ in range(5):
        case.vendor.submit({"audio_url": "https://cdn.test/other"})

    case.finish(notebook)

    assert notebook.read()["ref"] == "job-1"
    assert len(case.vendor.submissions) == 6


def test_the_list_is_not_searched_beyond_the_time_of_the_submission(httpserver, tmp_path):
    case = Case("assemblyai", httpserver, tmp_path / "talk.mp3")
    case.audio.write_bytes(b"sound")
    for _ in range(450):
        case.vendor.submit({"audio_url": "https://cdn.test/other"})
    for job in case.vendor.jobs.values():
        job["created"] = "2020-01-01T00:00:00"
    case.vendor.failures["submit"] = [Response("", 500)]

    case.finish(Paper())

    listed = [request for request, _ in httpserver.log if request.method == "GET"]
    assert len([request for request in listed if request.path == "/v2/transcript"]) == 1


def test_a_turn_of_minutes_is_cut_into_its_sentences(httpserver, tmp_path):
    case = Case("assemblyai", httpserver, tmp_path / "talk.mp3")
    case.audio.write_bytes(b"sound")
    case.vendor.looks_needed = 0
    words = [("word", 1_000 * at, 1_000 * at + 900, "A") for at in range(100)]
    words[9] = ("end.", 9_000, 9_900, "A")
    case.vendor.result = completed(words)

    segments = case.call(Paper()).segments

    assert segments[0].text == "word " * 9 + "end."
    assert (segments[0].start_sec, segments[0].end_sec) == (0.0, 9.9)
    assert max(segment.end_sec - segment.start_sec for segment in segments) < 32
    assert " ".join(segment.text for segment in segments) == case.vendor.result["text"]


def test_without_turns_the_words_are_taken(httpserver, tmp_path):
    case = Case("assemblyai", httpserver, tmp_path / "talk.mp3")
    case.audio.write_bytes(b"sound")
    case.vendor.looks_needed = 0
    case.vendor.result = case.vendor.result | {"utterances": None}

    assert case.call(Paper()).segments == HEARD
