"""The texts that the screen is held to: our own, and the shared ones where they are at hand."""

import json
from pathlib import Path

OWN = Path(__file__).with_name("cases.jsonl")
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "screening.jsonl"


def texts(path: Path, kind: str) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [case["text"] for case in map(json.loads, lines) if case["kind"] == kind]
