"""Real speech, and what can be made of it: other formats, longer recordings, broken files."""

from pathlib import Path
from typing import Any

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from numpy.typing import NDArray

RATE = 16_000
SPEECH = Path(__file__).resolve().parent.parent / "data" / "inaugural-1961.ogg"
SPEECH_SEC = 11.0
CODECS = {
    ".wav": "pcm_s16le",
    ".mp3": "libmp3lame",
    ".m4a": "aac",
    ".mp4": "aac",
    ".aac": "aac",
    ".flac": "flac",
    ".ogg": "libopus",
}

Sound = NDArray[np.int16]


def speech() -> Sound:
    """The sample's own samples."""
    resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(str(SPEECH)) as container:
        frames = [*container.decode(audio=0), None]
        pieces = [piece.to_ndarray()[0] for frame in frames for piece in resampler.resample(frame)]
    return np.concatenate(pieces)


def silence(seconds: float) -> Sound:
    """A room where nobody speaks: never quite still."""
    noise = np.random.default_rng(0).normal(0, 3, int(seconds * RATE))
    return noise.astype(np.int16)


def tone(seconds: float) -> Sound:
    """A note without an end or a pause."""
    at = np.arange(int(seconds * RATE))
    sound: Sound = (8_000 * np.sin(2 * np.pi * 440 / RATE * at)).astype(np.int16)
    return sound


def written(path: Path, sound: Sound, *, picture: bool = False) -> Path:
    """The sound in the format that the name's end tells, with a picture if it is to be a video."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=5) if picture else None
        if video is not None:
            video.width, video.height, video.pix_fmt = 64, 64, "yuv420p"
        stream: Any = container.add_stream(CODECS[path.suffix], rate=RATE, layout="mono")
        for frame in _frames(sound):
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if video is not None:
            container.mux(video.encode(av.VideoFrame(64, 64, "yuv420p")))
            container.mux(video.encode(None))
    return path


def picture_only(path: Path) -> Path:
    """A film from before the talkies."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for _ in range(10):
            container.mux(stream.encode(av.VideoFrame(64, 64, "yuv420p")))
        container.mux(stream.encode(None))
    return path


def _frames(sound: Sound) -> list[AudioFrame]:
    frames = []
    for start in range(0, len(sound), RATE):
        part = np.ascontiguousarray(sound[start : start + RATE]).reshape(1, -1)
        frame = AudioFrame.from_ndarray(part, format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, start
        frames.append(frame)
    return frames
