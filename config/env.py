"""Typed reads of the environment, for settings.py and nobody else."""

import ipaddress
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from config import running_servers

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


def number_from(name: str, default: int, *, least: int = 1) -> int:
    """A number that is not below the least."""
    given = number(name, default)
    if given < least:
        raise ImproperlyConfigured(f"{name} must be at least {least}; it is {given}.")
    return given


def time_limit(name: str, default: float) -> float:
    """Seconds, but not none at all."""
    given = seconds(name, default)
    if given <= 0:
        raise ImproperlyConfigured(f"{name} must be more than 0 seconds.")
    return given


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


def networks(name: str, default: list[str]) -> list[str]:
    """Addresses and networks, such as 10.0.0.0/8; `none` is none of them."""
    given = words(name) or default
    if given == ["none"]:
        return []
    for network in given:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {error}.") from None
    return given


def parse_with(name: str, parse: Callable[[str], T]) -> T:
    """The variable's value as `parse` reads it; its ValueError becomes ImproperlyConfigured."""
    try:
        return parse(text(name))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None


def names_of_given_settings() -> list[str]:
    """The settings that this process was given, by name; their values may be secret."""
    return sorted(name for name in running_servers.WHERE_THINGS_ARE if text(name))


def home_beside(run_folder: Path, default: Path) -> str:
    """The data folder of the server that runs in this checkout, said aloud, or the default."""
    home = running_servers.home_of_running_server(run_folder, names_of_given_settings())
    if not home or Path(home) == default:
        return str(default)
    sys.stderr.write(f"Using the library of the running server: {home}\n")
    return home


def address_beside(run_folder: Path, home: Path) -> str:
    """Where the server of this library listens, if one of this checkout does."""
    return running_servers.address_of_running_server(run_folder, str(home))


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
        return _get_or_create_secret(home / "secret_key")
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {home} cannot be used: {error.strerror}. "
            "Set QUARRY_HOME to a folder that this user may write to."
        ) from None


def _get_or_create_secret(path: Path) -> str:
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


_NO_MAIL = "django.core.mail.backends.dummy.EmailBackend"
_SMTP = "django.core.mail.backends.smtp.EmailBackend"


def mail(name: str) -> tuple[str, dict[str, Any]]:
    """How mail is sent: `smtp://` (with STARTTLS where a user is named), `smtps://`, or not."""
    url = text(name)
    if not url:
        return _NO_MAIL, {}
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ImproperlyConfigured(f"{name} must look like smtp://user:password@host:587.")
    is_tls = parts.scheme == "smtps"
    return _SMTP, {
        "host": parts.hostname,
        "port": parts.port or (465 if is_tls else 587 if parts.username else 25),
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "tls": is_tls,
        "starttls": not is_tls and bool(parts.username),
    }


def oidc_providers() -> dict[str, Any]:
    """The provider of identities that the operator names, if any, in the shape allauth reads."""
    server, client_id = text("QUARRY_OIDC_URL"), text("QUARRY_OIDC_CLIENT_ID")
    if server and not client_id:
        raise ImproperlyConfigured("QUARRY_OIDC_URL needs QUARRY_OIDC_CLIENT_ID.")
    app = {
        "provider_id": "oidc",
        "name": text("QUARRY_OIDC_NAME") or "single sign-on",
        "client_id": client_id,
        "secret": text("QUARRY_OIDC_CLIENT_SECRET"),
        "settings": {"server_url": server},
    }
    return {
        "openid_connect": {
            "provider_class": "accounts.oidc.Provider",
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [app] if server else [],
        }
    }
