"""The files that come with a SKILL.md: by safe relative paths, as text or as bytes."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from knowledge.registry.problems import Problem, printable, refuse_any
from knowledge.validation import BROKEN_UNICODE, storage_faults

MAX_FILES = 100
MAX_FILE_BYTES = 500_000
MAX_BUNDLE_BYTES = 2_000_000
MAX_PATH = 200
SKILL_MD = "SKILL.md"

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)

Stored = dict[str, dict[str, str]]
"""Each file by its path, as `text` or as `base64`."""


def read_bundle(files: object) -> dict[str, bytes]:
    """The files that a caller sent, by path; all that is wrong with them is told at once."""
    if files is None:
        return {}
    if not isinstance(files, Mapping):
        refuse_any([Problem("files", "must be an object of paths")], field="files", what="files")
        return {}
    problems = list(_check_file_count(files))
    bundle: dict[str, bytes] = {}
    for path, sent in files.items():
        problems += [Problem(f"files.{_printable_path(path)}", why) for why in unsafe(path)]
        data = _data(sent)
        if isinstance(data, str):
            problems.append(Problem(f"files.{_printable_path(path)}", data))
        else:
            bundle[path] = data
    problems += _check_path_clashes(bundle)
    if sum(map(len, bundle.values())) > MAX_BUNDLE_BYTES:
        problems.append(Problem("files", f"may be at most {MAX_BUNDLE_BYTES:,} bytes together"))
    refuse_any(problems, field="files", what="The bundle")
    return dict(sorted(bundle.items()))


def as_stored(bundle: Mapping[str, bytes]) -> Stored:
    """Text as text, so that it can be read where it is kept; anything else as base64."""
    return {path: _file_as_json(data) for path, data in bundle.items()}


def as_bytes(stored: Stored) -> dict[str, bytes]:
    return {
        path: file["text"].encode() if "text" in file else base64.b64decode(file["base64"])
        for path, file in stored.items()
    }


def unsafe(path: str) -> Iterator[str]:
    """Why a path may not be written below a folder, on any system; nothing if it may."""
    yield from storage_faults(path)
    if not 0 < len(path) <= MAX_PATH:
        yield f"must have a path of 1 to {MAX_PATH} characters"
        return
    if path.casefold() == SKILL_MD.casefold():
        yield f"must not be {SKILL_MD}, which is sent by itself"
    parts = path.split("/")
    if _UNSAFE.search(path) or any(_is_odd(part) for part in parts):
        yield "must be a relative path such as scripts/check.py, without .. or special characters"


def _is_odd(part: str) -> bool:
    """Empty, `.` and `..`, and what a system would take for another name or for a device."""
    return not part or part != part.rstrip(". ") or bool(_DEVICE.fullmatch(part))


def _check_file_count(files: Mapping[str, object]) -> Iterator[Problem]:
    if len(files) > MAX_FILES:
        yield Problem("files", f"may be at most {MAX_FILES}")


def _data(sent: object) -> bytes | str:
    """A file's bytes, or what is wrong with it."""
    if isinstance(sent, str):
        sent = {"text": sent}
    if not isinstance(sent, Mapping) or len(sent) != 1 or not sent.keys() <= {"text", "base64"}:
        return 'must be a string, or an object with either "text" or "base64"'
    (form, value), *_ = sent.items()
    if not isinstance(value, str):
        return f"must have a string as {form}"
    try:
        data = value.encode() if form == "text" else base64.b64decode(value, validate=True)
    except UnicodeEncodeError:
        return BROKEN_UNICODE
    except (binascii.Error, ValueError):
        return "must be base64 as RFC 4648 has it, with its padding"
    return data if len(data) <= MAX_FILE_BYTES else f"may be at most {MAX_FILE_BYTES:,} bytes"


def _check_path_clashes(bundle: Mapping[str, bytes]) -> Iterator[Problem]:
    """Files that would be one file on a system that ignores case, or a file and its folder."""
    seen: dict[str, str] = {}
    for path in bundle:
        folded = unicodedata.normalize("NFC", path).casefold()
        if folded in seen:
            yield Problem(
                f"files.{_printable_path(path)}",
                f"is the same path as {_printable_path(seen[folded])}",
            )
        seen[folded] = path
    for folded, path in seen.items():
        parents = folded.split("/")[:-1]
        if any("/".join(parents[: n + 1]) in seen for n in range(len(parents))):
            yield Problem(f"files.{_printable_path(path)}", "is below a path that is itself a file")


def _file_as_json(data: bytes) -> dict[str, str]:
    text: str | None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is None or any(storage_faults(text)):
        return {"base64": base64.b64encode(data).decode()}
    return {"text": text}


def _printable_path(path: Any) -> str:
    return printable(str(path), longest=MAX_PATH)
