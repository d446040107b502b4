"""Credentials that are known by their shape: vendors' tokens, private keys, signed tokens."""

import base64
import binascii
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from knowledge.screening.findings import Finding, Span
from knowledge.screening.values import SAMPLES, is_masked

VENDORS = Path(__file__).with_name("vendors.toml")
SHAPE_RULES = ("private_key", "jwt")

_CLASSES = {
    "W": "[A-Za-z0-9]",
    "H": "[0-9a-f]",
    "B": "[A-Za-z0-9_-]",
    "U": "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
}
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<body>(?:[^-]|-(?!----)){0,20000})(?:-----END [A-Z0-9 ]{0,60}-----)?"
)
_OTHER_KEY = re.compile(
    r"-----BEGIN OpenVPN Static key V\d-----\s+(?:[0-9a-f]{16,64}\s+){8,40}"
    r"|PuTTY-User-Key-File-\d:[^\n]*\n(?:[^\n]{0,200}\n){1,80}?Private-Lines: \d+\s+[\w+/=]{20}"
    r"""|["']kty["']\s?:[^{}]{0,2000}?["'][dk]["']\s?:\s?["'][\w-]{40,700}["']"""
    r"""|["'][dk]["']\s?:\s?["'][\w-]{40,700}["'][^{}]{0,2000}?["']kty["']"""
)
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
_JWT = re.compile(r"(?<![\w.-])(eyJ[\w-]{8,2000})\.(eyJ[\w-]{4,8000})\.([\w-]{20,1400})(?![\w-])")
_MANUAL = re.compile(
    r"example|your[\W_]|placeholder|redacted|x{6,}|\*{4,}|\.{3,}|0{8,}|1234567890ab|abcdefghij"
    r"|test_?key|fake|dummy",
    re.IGNORECASE,
)


class Shape(NamedTuple):
    """How one vendor's credentials look; without one of its starts a text is not searched."""

    rule: str
    what: str
    starts: tuple[str, ...]
    pattern: re.Pattern[str]


@cache
def vendor_shapes() -> tuple[Shape, ...]:
    rows = tomllib.loads(VENDORS.read_text(encoding="utf-8"))["shape"]
    return tuple(
        Shape(row["rule"], row["what"], tuple(row["starts"]), _compile(row["pattern"]))
        for row in rows
    )


@cache
def _all_starts() -> tuple[str, ...]:
    return tuple(start for shape in vendor_shapes() for start in shape.starts)


def _compile(pattern: str) -> re.Pattern[str]:
    dense = re.sub(r"\s+", "", pattern)
    for name, signs in _CLASSES.items():
        dense = dense.replace(f"{{{name}}}", signs)
    return re.compile(f"(?<![A-Za-z0-9]){dense}")


def secret(rule: str, what: str, span: Span) -> Finding:
    """A finding that says what was found and never what it said."""
    return Finding("secret", rule, f"The text holds {what}.", *span)


def find_shapes(text: str) -> Iterator[Finding]:
    """Every credential in a known shape, the most telling shapes first."""
    if "PRIVATE KEY" in text:
        for match in _PRIVATE_KEY.finditer(text):
            if _has_body(match["body"]):
                yield secret("private_key", "a private key", match.span())
    if "key" in text or "Key" in text or "kty" in text:
        yield from (
            secret("private_key", "a private key", match.span())
            for match in _OTHER_KEY.finditer(text)
        )
    if "eyJ" in text:
        yield from _signed_tokens(text)
    starts = set(filter(text.__contains__, _all_starts()))
    for shape in vendor_shapes() if starts else ():
        if not starts.isdisjoint(shape.starts):
            yield from _find_shape(text, shape)


def _has_body(body: str) -> bool:
    lines = [line for line in _KEY_LINE.findall(body.replace("\\n", "\n")) if not is_masked(line)]
    return sum(map(len, lines)) >= 64


def _signed_tokens(text: str) -> Iterator[Finding]:
    for match in _JWT.finditer(text):
        header, claims = _json_of(match[1]), _json_of(match[2])
        if header.get("alg", "none") != "none" and claims and claims.get("name") != "John Doe":
            yield secret("jwt", "a signed token (JWT)", match.span())


def _json_of(part: str) -> dict[str, object]:
    try:
        found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _find_shape(text: str, shape: Shape) -> Iterator[Finding]:
    for match in shape.pattern.finditer(text):
        token = match[0]
        is_sample = token.lower() in SAMPLES or is_masked(token) or _MANUAL.search(token)
        if not is_sample and len(set(token[-24:])) >= 8:
            yield secret(shape.rule, f"{shape.what} ({token[:4]}…)", match.span())
