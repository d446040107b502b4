import json

import pytest
from django.core.exceptions import ImproperlyConfigured

from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.providers import live_transcriber, transcriber_named
from knowledge.providers.fake import FakeTranscriber
from knowledge.providers.protocols import StillTranscribing


class Paper:
    def __init__(self) -> None:
        self.kept = "{}"

    def read(self):
        return json.loads(self.kept)

    def write(self, notes, *, percent=None):
        self.kept = json.dumps(notes)


@pytest.mark.parametrize("name", ["whisper", "assemblyai", "gladia", "fake"])
def test_the_settings_choose_the_transcriber(settings, name):
    settings.QUARRY_TRANSCRIBER = name

    assert live_transcriber().name == name
    assert live_transcriber().usd_per_hour >= 0


def test_an_unknown_transcriber_is_refused_with_the_known_names():
    with pytest.raises(
        ImproperlyConfigured, match=r"'ear'.*assemblyai, fake, gladia, openai:MODEL, whisper"
    ):
        transcriber_named("ear")


def test_the_local_model_is_shared_by_the_whole_process():
    assert transcriber_named("whisper") is transcriber_named("whisper")


@pytest.mark.parametrize("name", ["assemblyai", "gladia"])
def test_vendors_are_made_from_their_settings(settings, tmp_path, name):
    settings.ASSEMBLYAI_API_KEY = settings.GLADIA_API_KEY = "key"
    settings.ASSEMBLYAI_BASE_URL = settings.GLADIA_BASE_URL = "http://127.0.0.1:1"
    audio = tmp_path / "a.mp3"
    audio.write_bytes(b"sound")

    with pytest.raises(ProviderUnavailable, match="did not answer"):
        transcriber_named(name).transcribe(audio, Paper())


def test_the_fake_hears_the_same_in_the_same_bytes(tmp_path):
    one, same, other = (tmp_path / name for name in ("one", "same", "other"))
    for path, content in ((one, b"abc"), (same, b"abc"), (other, b"xyz")):
        path.write_bytes(content)
    heard = [FakeTranscriber().transcribe(path, Paper()) for path in (one, same, other)]

    assert heard[0] == heard[1] != heard[2]
    assert [segment.start_sec for segment in heard[0].segments] == [0, 5, 10]


def test_the_fake_is_at_work_for_as_long_as_it_is_told_and_submits_once(tmp_path):
    audio = tmp_path / "a"
    audio.write_bytes(b"abc")
    fake, notebook = FakeTranscriber(looks=2), Paper()
    for _ in range(2):
        with pytest.raises(StillTranscribing):
            fake.transcribe(audio, notebook)

    assert len(fake.transcribe(audio, notebook).segments) == 3
    assert fake.submissions == 1


def test_the_fake_fails_on_demand(tmp_path):
    audio = tmp_path / "a"
    audio.write_bytes(b"")
    with pytest.raises(ProviderUnavailable):
        FakeTranscriber(failure=ProviderUnavailable("down")).transcribe(audio, Paper())
    with pytest.raises(IngestFailed):
        FakeTranscriber().transcribe(audio, Paper())
