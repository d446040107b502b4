"""What the doctor says of the transcriber: which is in use, and why."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.support.wire.anthropic import Anthropic
from tests.support.wire.assemblyai import AssemblyAI
from tests.support.wire.gladia import Gladia

pytestmark = pytest.mark.django_db


def told(about: str) -> dict[str, str]:
    out = StringIO()
    try:
        call_command("doctor", "--json", stdout=out)
    except CommandError as error:
        assert str(error) == "Something needs fixing."  # noqa: PT017 (either outcome will do)
    found: list[dict[str, str]] = json.loads(out.getvalue())
    return next(finding for finding in found if finding["about"] == about)


@pytest.mark.parametrize(
    ("chosen", "assemblyai", "gladia", "state", "seen"),
    [
        ("whisper", "", "", "ok", "whisper tiny.en (chosen as no vendor's key is set)"),
        ("assemblyai", "k", "k", "ok", "assemblyai (chosen as ASSEMBLYAI_API_KEY is set)"),
        ("gladia", "", "k", "ok", "gladia (chosen as GLADIA_API_KEY is set)"),
        ("gladia", "k", "k", "ok", "gladia (chosen by QUARRY_TRANSCRIBER)"),
        ("whisper", "k", "", "ok", "whisper tiny.en (chosen by QUARRY_TRANSCRIBER)"),
        ("gladia", "", "", "fail", "gladia lacks its key"),
        ("ear", "", "", "fail", "There is no transcriber 'ear'"),
    ],
)
def test_the_transcriber_and_the_reason_for_it_are_told(
    settings, httpserver, chosen, assemblyai, gladia, state, seen
):
    AssemblyAI(httpserver)
    Gladia(httpserver)
    settings.ASSEMBLYAI_BASE_URL = settings.GLADIA_BASE_URL = httpserver.url_for("")
    settings.QUARRY_TRANSCRIBER = chosen
    settings.ASSEMBLYAI_API_KEY, settings.GLADIA_API_KEY = assemblyai, gladia

    finding = told("transcriber")

    assert finding["state"] == state
    assert finding["seen"].startswith(seen)


@pytest.mark.parametrize("about", ["summaries", "answers"])
def test_without_a_key_the_doctor_says_what_is_off(settings, httpserver, about):
    settings.ANTHROPIC_BASE_URL = Anthropic(httpserver).base_url
    settings.QUARRY_SUMMARIZER = settings.QUARRY_ANSWERER = "claude"
    settings.ANTHROPIC_API_KEY = ""
    assert (told(about)["state"], told(about)["seen"]) == ("note", "off: there is no key")
    settings.ANTHROPIC_API_KEY = "key"
    assert told(about)["state"] == "ok"
