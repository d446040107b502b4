"""The shapes of what a client holds: told apart from tokens that people mint at first sight."""

import secrets
from typing import Any

ACCESS_PREFIX = "qra_"
REFRESH_PREFIX = "qrr_"


def new_access_token(request: Any, refresh_token: bool = False) -> str:
    return ACCESS_PREFIX + secrets.token_urlsafe(32)


def new_refresh_token(request: Any, refresh_token: bool = False) -> str:
    return REFRESH_PREFIX + secrets.token_urlsafe(32)
