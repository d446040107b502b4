"""What operators read: one line for what is expected, with the request or job it belongs to."""

import json
import logging
import logging.config
from collections.abc import Iterator

import pytest
from django.conf import settings as product
from django.test import Client

from knowledge.errors import ProviderUnavailable
from knowledge.monitoring import logs


@pytest.fixture(autouse=True)
def origin() -> Iterator[None]:
    request, job = logs.request_id.set("call-0000001"), logs.job_id.set("")
    yield
    logs.request_id.reset(request)
    logs.job_id.reset(job)


def record(error: Exception | None = None, message: str = "Search fell back") -> logging.LogRecord:
    exc_info = (type(error), error, None) if error else None
    return logging.LogRecord("quarry", logging.WARNING, "x.py", 1, message, (), exc_info)


def test_text_has_the_request_at_the_end_of_its_line() -> None:
    line = logs.TextFormatter().format(record())
    assert line.endswith(" WARNING quarry: Search fell back [request call-0000001]")


def test_json_is_one_object_a_line_whatever_went_wrong() -> None:
    line = logs.JsonFormatter().format(record(ValueError("two\nlines")))
    assert "\n" not in line
    told = json.loads(line)
    assert told.pop("time").endswith("+00:00")
    assert told.pop("exception").endswith("ValueError: two\nlines")
    assert told == {
        "level": "WARNING",
        "logger": "quarry",
        "message": "Search fell back",
        "request_id": "call-0000001",
        "job_id": None,
    }


@pytest.mark.parametrize("formatter", [logs.TextFormatter(), logs.JsonFormatter()])
def test_what_is_expected_is_one_line_without_a_traceback(formatter: logging.Formatter) -> None:
    line = formatter.format(record(ProviderUnavailable("The embedder did not answer.")))
    assert "Search fell back: The embedder did not answer." in line
    assert "ProviderUnavailable" not in line
    assert "\n" not in line
    assert "KeyError" in formatter.format(record(KeyError("surprise")))


def test_a_job_that_fails_for_a_known_reason_is_a_warning_of_one_line() -> None:
    dramatiqs = "Failed to process message %s with unhandled exception."
    failed = record(ProviderUnavailable("The webhook was not told: HTTP 503"), dramatiqs)
    failed.args = ("deliver_webhook('1')",)
    failed.levelno, failed.levelname = logging.ERROR, "ERROR"
    logs.ExpectedJobFailures().filter(failed)
    line = logs.TextFormatter().format(failed)
    told = "deliver_webhook('1') failed: The webhook was not told: HTTP 503"
    assert f"WARNING quarry: {told}" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("path", "is_json"), [("/api/v1/whoami", True), ("/admin/", False), ("/metrics", False)]
)
def test_a_wrong_host_is_one_line_that_names_the_setting_as_does_its_answer(
    path: str, is_json: bool, caplog: pytest.LogCaptureFixture
) -> None:
    logging.config.dictConfig(product.LOGGING)  # once more, as a server does
    logging.getLogger().addHandler(caplog.handler)
    answer = Client(headers={"Host": "kb.example.org"}).get(path)
    assert answer.status_code == 400
    assert "QUARRY_ALLOWED_HOSTS" in answer.content.decode()
    if is_json:
        assert answer.json()["error"] == "invalid_body"
    [line] = [one for one in caplog.records if one.name == "django.security.DisallowedHost"]
    told = "Invalid HTTP_HOST header: 'kb.example.org'. You may need to add 'kb.example.org' to "
    assert line.getMessage() == f"{told}QUARRY_ALLOWED_HOSTS."
    assert line.exc_info is None
