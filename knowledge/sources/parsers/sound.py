"""Recordings, read by FFmpeg's libraries: how long they are, and their sound as plain samples."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet

from knowledge.errors import IngestFailed
from knowledge.sources.audio import LONGEST_SEC, RATE

SAMPLE_BYTES = 2
SHORTEST = 1.0

# Containers that hold their sound themselves. Playlists and the like name other files and
# addresses, which FFmpeg would open.
FORMATS = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,eac3,flac,flv,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mp3,"
    "mpeg,mpegts,ogg,tta,w64,wav,wv"
)


def probe(request: dict[str, Any]) -> dict[str, Any]:
    """The seconds of sound in the file at `path`, counted over its packets: headers may lie."""
    with _open_audio(Path(request["path"])) as (container, stream):
        tick = float(stream.time_base or 0)
        ticks, heard = 0, 0.0
        for packet in _packets(container, stream):
            ticks += packet.duration or 0
            if heard < SHORTEST:  # packets of noise are counted too, but cannot be decoded
                heard += sum(frame.samples / frame.sample_rate for frame in _decode(packet))
            if ticks * tick > LONGEST_SEC:
                raise _too_long()
        _refuse_too_short(heard)
        return {"seconds": round(ticks * tick, 3) or (container.duration or 0) / av.time_base}


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """The seconds that the file at `path` claims; its size counts where it claims nothing."""
    with _open_audio(Path(request["path"])) as (container, _):
        return {"seconds": (container.duration or 0) / av.time_base}


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Write the sound of `path` to `to` as 16 kHz mono 16-bit samples; say how many seconds."""
    samples = 0
    with (
        _open_audio(Path(request["path"])) as (container, stream),
        Path(request["to"]).open("wb") as sound,
    ):
        for piece in _resample(_frames(container, stream)):
            sound.write(memoryview(piece.planes[0])[: piece.samples * SAMPLE_BYTES])
            samples += piece.samples
            if samples / RATE > LONGEST_SEC:
                raise _too_long()
    _refuse_too_short(samples / RATE)
    return {"seconds": samples / RATE}


@contextmanager
def _open_audio(path: Path) -> Iterator[tuple[InputContainer, AudioStream]]:
    options = {"format_whitelist": FORMATS, "protocol_whitelist": "file"}
    try:
        container = av.open(str(path), options=options, metadata_errors="ignore")
    except (FFmpegError, ValueError) as error:
        raise _broken_audio() from error
    with closing(container):
        stream = container.streams.best("audio")
        if not isinstance(stream, AudioStream):
            raise IngestFailed(
                "There is no sound in this file; send one with an audio track.", reason="no_audio"
            )
        yield container, stream


def _packets(container: InputContainer, stream: AudioStream) -> Iterator["Packet[AudioStream]"]:
    """The packets as far as they can be read: a file that was cut off simply ends."""
    packets = container.demux(stream)
    while True:
        try:
            yield next(packets)
        except (StopIteration, FFmpegError):
            return


def _frames(container: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    for packet in _packets(container, stream):
        yield from _decode(packet)


def _decode(packet: "Packet[AudioStream]") -> list[AudioFrame]:
    try:
        return packet.decode()
    except FFmpegError:  # one bad packet among good ones
        return []


def _resample(frames: Iterator[AudioFrame]) -> Iterator[AudioFrame]:
    """The same sound at our rate; a recording may change its own on the way."""
    resampler, shape = _resampler(), None
    for frame in frames:
        frame.pts = None  # jumps in the timestamps are no sound
        if shape not in (None, _shape(frame)):
            yield from resampler.resample(None)
            resampler = _resampler()
        shape = _shape(frame)
        yield from resampler.resample(frame)
    if shape is not None:
        yield from resampler.resample(None)


def _resampler() -> AudioResampler:
    return AudioResampler(format="s16", layout="mono", rate=RATE)


def _shape(frame: AudioFrame) -> tuple[str, str, int]:
    return frame.format.name, frame.layout.name, frame.sample_rate


def _refuse_too_short(seconds: float) -> None:
    if seconds < SHORTEST:
        raise _broken_audio()


def _too_long() -> IngestFailed:
    return IngestFailed(
        f"The recording is longer than {LONGEST_SEC / 3600:g} hours; split it and add the parts.",
        reason="too_long",
    )


def _broken_audio() -> IngestFailed:
    return IngestFailed(
        "Less than a second of sound could be read from this file; it is broken, cut off or in an "
        "unknown format, so save it again as MP3, WAV or M4A and send that.",
        reason="broken_audio",
    )
