"""Which server of OpenAI's protocol does which job, by the settings."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from knowledge.providers.openai_api import OpenAIServer

OPENAI_URL = "https://api.openai.com/v1"
JOBS = ("EMBEDDER", "SUMMARIZER", "ANSWERER", "TRANSCRIBER")
LONGEST_NAME = 100

_DIMENSIONS = re.compile(r"@(\d{1,6})$")


def server_for(job: str, model: str) -> "OpenAIServer":
    """The server that does the job, by its own settings or else by those of all jobs."""
    from knowledge.providers.openai_api import OpenAIServer  # its HTTP client is seldom needed

    if not model:
        raise ImproperlyConfigured(
            f"QUARRY_{job}=openai names no model: write openai:MODEL, such as openai:bge-m3."
        )
    if len(model) > LONGEST_NAME - len("openai:"):
        raise ImproperlyConfigured(f"The model's name is too long: {model}.")
    own_url, own_key = _setting(job, "URL"), _setting(job, "KEY")
    # The shared key is the shared server's, and is not shown to another.
    key = own_key or ("" if own_url else settings.QUARRY_OPENAI_KEY)
    url = own_url or settings.QUARRY_OPENAI_URL or (OPENAI_URL if key else "")
    if not url:
        raise ImproperlyConfigured(
            f"QUARRY_{job}=openai:{model} needs an address: set QUARRY_OPENAI_URL (or "
            f"QUARRY_{job}_URL), or QUARRY_OPENAI_KEY for OpenAI itself."
        )
    return OpenAIServer(url=_check_address(url, job), key=key, model=model, job=job)


def split_dimensions(model: str) -> tuple[str, int | None]:
    """`qwen3-embedding:8b@1024` is that model, asked for vectors of 1,024 dimensions."""
    found = _DIMENSIONS.search(model)
    return (model[: found.start()], int(found[1])) if found else (model, None)


def check_model_settings() -> None:
    """Refuse a server that is set for a job which something else does."""
    choices = {
        "SUMMARIZER": settings.QUARRY_SUMMARIZER,
        "ANSWERER": settings.QUARRY_ANSWERER,
        "TRANSCRIBER": settings.QUARRY_TRANSCRIBER,
    }
    for job, choice in choices.items():
        if not choice.startswith("openai") and (_setting(job, "URL") or _setting(job, "KEY")):
            raise ImproperlyConfigured(
                f"QUARRY_{job}_URL or QUARRY_{job}_KEY is set, but QUARRY_{job} is {choice}: "
                f"set QUARRY_{job}=openai:MODEL, or unset them."
            )


def _setting(job: str, what: str) -> str:
    return str(getattr(settings, f"QUARRY_{job}_{what}"))


def _check_address(url: str, job: str) -> str:
    """The address as it is called; one without a path gets the usual `/v1`."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ImproperlyConfigured(
            f"QUARRY_OPENAI_URL or QUARRY_{job}_URL is no address of a server: write it as "
            "http://localhost:11434/v1."
        )
    return url.rstrip("/") if parts.path.strip("/") else f"{url.rstrip('/')}/v1"
