"""Typed reads of the environment, for settings.py and nobody else."""

import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from config import running

T = TypeVar("T")

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def flag(name: str, *, default: bool = False) -> bool:
    value = text(name, "1" if default else "0").lower()
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} must be one of 1, 0, true, false; it is {value!r}.")
    return value in _TRUE


def number(name: str, default: int) -> int:
    value = text(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number; it is {value!r}.") from None


def seconds(name: str, default: float) -> float:
    value = text(name, str(default))
    try:
        given = float(value)
    except ValueError:
        given = -1.0
    if not 0 <= given < float("inf"):
        raise ImproperlyConfigured(f"{name} must be a number of seconds; it is {value!r}.")
    return given


def one_of(name: str, allowed: tuple[str, ...], default: str) -> str:
    value = text(name, default).upper()
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of: {', '.join(allowed)}.")
    return value


def words(name: str) -> list[str]:
    return [word.strip() for word in text(name).split(",") if word.strip()]


def parsed(name: str, parse: Callable[[str], T]) -> T:
    """What `parse` reads in it; its ValueError says what is wrong."""
    try:
        return parse(text(name))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None


def given_names() -> list[str]:
    """The settings that this process was given, by name; their values may be secret."""
    return sorted(name for name in running.WHERE_THINGS_ARE if text(name))


def home_beside(run_folder: Path, default: Path) -> str:
    """The data folder of the server that runs in this checkout, said aloud, or the default."""
    home = running.home_of_running_server(run_folder, given_names())
    if not home or Path(home) == default:
        return str(default)
    sys.stderr.write(f"Using the library of the running server: {home}\n")
    return home


def database(name: str) -> dict[str, Any] | None:
    """Django's connection settings from a libpq URL or key=value string; None when unset."""
    conninfo = text(name)
    if not conninfo:
        return None
    try:
        parts = conninfo_to_dict(conninfo)
    except ProgrammingError as error:
        raise ImproperlyConfigured(f"{name} is not a Postgres address: {error}") from None
    return {
        "NAME": parts.pop("dbname", "quarry"),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": str(parts.pop("port", "")),
        "OPTIONS": parts,
    }


def secret_key(name: str, *, home: Path, required: bool) -> str:
    """The signing key: from the environment, else a random one made once for this home."""
    if key := text(name):
        return key
    if required:
        raise ImproperlyConfigured(f"Set {name} to a long random string in production.")
    try:
        return _kept_secret(home / "secret_key")
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {home} cannot be used: {error.strerror}. "
            "Set QUARRY_HOME to a folder that this user may write to."
        ) from None


def _kept_secret(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(48))
    try:
        # A link, unlike a rename, lets only the first of two starting processes win.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text()
