"""How long a recording is, and its sound as plain samples; both read in a child process."""

from pathlib import Path

from knowledge.sources.child import run_in_child

RATE = 16_000
"""Samples a second of decoded sound."""

LONGEST_SEC = 12 * 3600
"""The longest recording that is taken."""

PROBE_SEC = 120
MEASURE_SEC = 10
DECODE_SEC = 1_200
MEMORY_MB = 1_024
DECODED_MB = 1_400
"""Twelve hours, the most that is taken, are 1,318 MB of samples."""


def probe(path: Path) -> float:
    """The seconds of sound in an audio or video file."""
    request = {"path": str(path.resolve())}
    answer = run_in_child(
        "knowledge.sources.parsers.sound:probe",
        request,
        seconds=PROBE_SEC,
        megabytes=MEMORY_MB,
    )
    return float(answer["seconds"])


def measure(path: Path) -> float | None:
    """The seconds that a recording's head and index tell, of a file that may lack all the rest."""
    request = {"path": str(path.resolve())}
    answer = run_in_child(
        "knowledge.sources.parsers.sound:measure",
        request,
        seconds=MEASURE_SEC,
        megabytes=MEMORY_MB,
    )
    return float(answer["seconds"]) or None


def decode(path: Path, to: Path) -> float:
    """Write the sound as 16 kHz mono 16-bit little-endian samples to `to`; its seconds.

    Of a file that was cut off, what can be read, if that is a second or more.
    """
    request = {"path": str(path.resolve()), "to": str(to.resolve())}
    answer = run_in_child(
        "knowledge.sources.parsers.sound:decode",
        request,
        seconds=DECODE_SEC,
        megabytes=MEMORY_MB,
        writes=DECODED_MB,
    )
    return float(answer["seconds"])
