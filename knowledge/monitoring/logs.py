"""How log lines look: as text or as JSON, with the request or job that they belong to.

What is expected to go wrong, such as an unreachable webhook, is one line and no traceback.
"""

import json
import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from knowledge.errors import QuarryError

request_id: ContextVar[str] = ContextVar("request_id", default="")
job_id: ContextVar[str] = ContextVar("job_id", default="")

_DJANGO_SETTING = re.compile(r"\bALLOWED_HOSTS")


class TextFormatter(logging.Formatter):
    """One line for each record, and the traceback of what nobody expected."""

    def format(self, record: logging.LogRecord) -> str:
        moment = self.formatTime(record)
        line = f"{moment} {record.levelname} {record.name}: {_message(record)}{_origin()}"
        trace = _traceback(self, record)
        return f"{line}\n{trace}" if trace else line


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
            "request_id": request_id.get() or None,
            "job_id": job_id.get() or None,
            "exception": _traceback(self, record) or None,
        }
        return json.dumps(said, ensure_ascii=False)


class ExpectedJobFailures(logging.Filter):
    """Says in one line, as a warning, that a job failed for a reason that we know."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = _quarry_error_of(record)
        if error is not None and record.args:
            [job] = record.args if isinstance(record.args, tuple) else [record.args]
            record.msg, record.args = "%s failed: %s", (job, error)
            record.exc_info = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class WrongHosts(logging.Filter):
    """Says in one line which Host was refused, and the setting that lets it in."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Django sets logging up twice in a server, and a logger then has this filter twice.
        told = _DJANGO_SETTING.sub("QUARRY_ALLOWED_HOSTS", record.getMessage())
        record.msg, record.args, record.exc_info = told, None, None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


def _quarry_error_of(record: logging.LogRecord) -> QuarryError | None:
    error = record.exc_info[1] if record.exc_info else None
    return error if isinstance(error, QuarryError) else None


def _message(record: logging.LogRecord) -> str:
    error = _quarry_error_of(record)
    told = record.getMessage()
    return f"{told}: {error.message}" if error else told


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    if not record.exc_info or _quarry_error_of(record):
        return ""
    return formatter.formatException(record.exc_info)


def _origin() -> str:
    """The request or job that is at work here, if there is one."""
    told = [("request", request_id.get()), ("job", job_id.get())]
    return "".join(f" [{what} {which}]" for what, which in told if which)
