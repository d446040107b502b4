"""Recordings in every shape, hostile ones too, are measured and decoded in a child process."""

import struct
from pathlib import Path

import numpy as np
import pytest

from knowledge.errors import IngestFailed
from knowledge.sources.audio import MEMORY_MB, decode, probe
from tests.support.recordings import (
    RATE,
    SPEECH,
    SPEECH_SEC,
    picture_only,
    speech,
    tone,
    written,
)


@pytest.mark.parametrize("name", ["a.wav", "a.mp3", "a.m4a", "a.mp4", "a.flac"])
def test_the_length_of_every_format_is_told(tmp_path, name):
    path = written(tmp_path / name, speech(), picture=name.endswith("mp4"))

    assert probe(path) == pytest.approx(SPEECH_SEC, abs=0.2)


def test_sound_is_decoded_to_one_channel_of_16_khz(tmp_path):
    to = tmp_path / "sound"

    assert decode(SPEECH, to) == pytest.approx(SPEECH_SEC, abs=0.1)

    samples = np.fromfile(to, "<i2")
    assert len(samples) == pytest.approx(SPEECH_SEC * RATE, abs=RATE / 10)
    loud = np.abs(samples.astype(np.int32)).reshape(-1, RATE // 2).max(axis=1)
    assert loud.max() > 5_000


def test_a_header_that_promises_hours_is_not_believed(tmp_path):
    path = written(tmp_path / "a.wav", speech())
    content = bytearray(path.read_bytes())
    at = content.index(b"data") + 4
    content[at : at + 4] = struct.pack("<I", 0x7FFF_FFFF)
    path.write_bytes(content)

    assert probe(path) == pytest.approx(SPEECH_SEC, abs=0.2)
    assert decode(path, tmp_path / "sound") == pytest.approx(SPEECH_SEC, abs=0.2)


@pytest.mark.parametrize("name", ["a.wav", "a.mp3", "a.flac"])
def test_of_a_recording_that_was_cut_off_the_rest_is_used(tmp_path, name):
    path = written(tmp_path / name, speech())
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])

    assert 3 < probe(path) < 8
    assert 3 < decode(path, tmp_path / "sound") < 8


def test_a_broken_stretch_costs_only_itself(tmp_path):
    path = written(tmp_path / "a.mp3", speech())
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 2_000] = b"\x55" * 2_000
    path.write_bytes(content)

    assert decode(path, tmp_path / "sound") > 9


BROKEN = {
    "nothing": b"",
    "one byte": b"\0",
    "text": b"This is no recording. " * 1_000,
    "zeros": bytes(100_000),
    "only a header": b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\1\0\1\0\x80>\0\0\0}\0\0\2\0\x10\0",
    "no samples": b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80>\0\0\0}\0\0\2\0\x10\0data\0\0\0\0",
    "chance": np.random.default_rng(1).bytes(200_000),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("use", ["probe", "decode"])
def test_what_holds_no_second_of_sound_fails_with_a_reason(tmp_path, content, use):
    path = tmp_path / "a.mp3"
    path.write_bytes(content)

    with pytest.raises(IngestFailed) as caught:
        _ = probe(path) if use == "probe" else decode(path, tmp_path / "sound")

    assert caught.value.details["reason"] in ("broken_audio", "no_audio")


def test_half_a_second_is_too_little(tmp_path):
    path = written(tmp_path / "a.wav", speech()[: RATE // 2])

    with pytest.raises(IngestFailed) as caught:
        probe(path)

    assert caught.value.details["reason"] == "broken_audio"


def test_a_film_without_sound_has_no_audio(tmp_path):
    with pytest.raises(IngestFailed) as caught:
        probe(picture_only(tmp_path / "a.mp4"))

    assert caught.value.details["reason"] == "no_audio"


def test_more_than_twelve_hours_are_too_long_and_never_whole_in_memory(tmp_path):
    path = tmp_path / "a.wav"
    size = (12 * 3600 + 1) * RATE * 2
    wave = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, RATE * 2, 2, 16)
    with path.open("wb") as file:
        file.write(b"RIFF" + struct.pack("<I", 36 + size) + b"WAVE" + wave)
        file.write(struct.pack("<4sI", b"data", size))
        file.truncate(44 + size)  # a hole, which takes no room

    with pytest.raises(IngestFailed, match="12 hours") as caught:
        probe(path)

    assert size > MEMORY_MB * 2**20
    assert caught.value.details["reason"] == "too_long"


PLAYLISTS = {
    "HLS": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://{there}\n#EXT-X-ENDLIST\n",
    "concatenation": "ffconcat version 1.0\nfile '{there}'\n",
    "M3U": "#EXTM3U\n{there}\n",
    "SDP": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
}


@pytest.mark.parametrize("playlist", PLAYLISTS.values(), ids=PLAYLISTS)
def test_a_playlist_leads_to_no_other_file(tmp_path, playlist):
    there = written(tmp_path / "other.wav", speech())
    path = tmp_path / "list.mp3"
    path.write_text(playlist.format(there=there))

    with pytest.raises(IngestFailed) as caught:
        probe(path)

    assert caught.value.details["reason"] == "broken_audio"


def test_a_name_with_odd_characters_is_a_name(tmp_path, monkeypatch):
    path = written(tmp_path / "a.wav", tone(2))
    odd = path.rename(tmp_path / "http:--x, concat:|%d.wav")
    monkeypatch.chdir(tmp_path)

    assert probe(Path(odd.name)) == pytest.approx(2, abs=0.1)
