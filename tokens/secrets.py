"""The shape of a token's secret: `qry_`, 256 random bits, and a checksum for secret scanners."""

import base64
import hashlib
import re
import secrets
import zlib

PREFIX = "qry_"
_SHAPE = re.compile(r"qry_([A-Za-z0-9_-]{43})([0-9A-Za-z]{6})\Z")
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def new_secret() -> str:
    body = base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
    return f"{PREFIX}{body}{checksum(body)}"


def is_well_formed(secret: str) -> bool:
    """Whether this can be a secret of ours at all; a typing error fails here."""
    match = _SHAPE.match(secret)
    return match is not None and checksum(match[1]) == match[2]


def digest(secret: str) -> str:
    """What is stored in place of the secret. It has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def checksum(body: str) -> str:
    value = zlib.crc32(f"{PREFIX}{body}".encode())
    digits = ""
    for _ in range(6):
        value, digit = divmod(value, 62)
        digits = _BASE62[digit] + digits
    return digits
