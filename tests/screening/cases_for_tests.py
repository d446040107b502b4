"""The texts that the screen is held to: our own, and the shared ones where they are at hand."""

import json
from pathlib import Path

CASES = Path(__file__).with_name("cases")
TAUGHT = sorted((CASES / "taught").glob("*.jsonl"))
"""What the judge has learned from, one file a hand."""
UNSEEN = sorted((CASES / "unseen").glob("*.jsonl"))
"""By hands that it has never learned from, and must not."""
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "screening.jsonl"


def texts(path: Path, kind: str) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [case["text"] for case in map(json.loads, lines) if case["kind"] == kind]
