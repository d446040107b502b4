"""A speech vendor on its bad days: an item is tried again or says why not, and is never lost."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from rest_framework.test import APIClient
from werkzeug import Response

from knowledge import providers
from knowledge.ingest import contents, extraction
from knowledge.ingest.adding_files import finish_upload
from knowledge.ingest.uploads import RECORDINGS, begin_upload
from knowledge.jobs import consumer
from knowledge.ledger.webhooks import create_webhook
from knowledge.models import Delivery, Job, Tier, Usage
from knowledge.providers import vendor_job
from knowledge.providers.assemblyai import AssemblyAITranscriber
from knowledge.sources import audio
from knowledge.storage import live_store
from tests.support.job_table import send_to_the_table
from tests.support.jobs import working
from tests.support.library import Mint, Minted
from tests.support.recordings import silence, written
from tests.support.waiting import eventually
from tests.support.wire.assemblyai import AssemblyAI
from tests.support.wire.speech import as_json

pytestmark = pytest.mark.django_db(transaction=True)

SECONDS = 3
TRIES = 9
USED_UP = as_json({"error": "Your current account balance is negative"}, 402)


def down() -> Response:
    return as_json({"error": "Server error, developers have been alerted"}, 500)


OUTAGES: dict[str, Callable[[], Response]] = {
    "500": down,
    "limited": lambda: as_json({"error": "Too many requests"}, 429),
    "no JSON": lambda: Response("<html>Bad gateway</html>", content_type="text/html"),
    "half of it": lambda: Response('{"id": "job', content_type="application/json"),
    "nothing in it": lambda: as_json({}),
}


@pytest.mark.parametrize("outage", OUTAGES)
@pytest.mark.parametrize("verb", ["upload", "submit", "look"])
def test_an_outage_is_outlived_and_paid_for_once(talk: "Talk", verb: str, outage: str) -> None:
    talk.vendor.failures[verb] = [OUTAGES[outage]() for _ in range(2)]
    talk.send()
    talk.wait_until("ready")
    assert talk.vendor.failures[verb] == []
    talk.assert_paid_once()


@pytest.mark.parametrize("verb", ["upload", "submit", "list", "look"])
def test_an_answer_that_was_lost_on_the_way_costs_nothing(talk: "Talk", verb: str) -> None:
    talk.vendor.lost = {verb: [down()], "submit": [down()]}
    talk.send()
    talk.wait_until("ready")
    talk.assert_paid_once()


@pytest.mark.parametrize("patience", [0.4])
@pytest.mark.parametrize("verb", ["upload", "submit", "look"])
def test_a_vendor_that_does_not_answer_in_time_is_asked_again(talk: "Talk", verb: str) -> None:
    silent = talk.vendor.held[verb] = Event()
    talk.send()
    eventually(lambda: talk.vendor.asked(verb))
    del talk.vendor.held[verb]
    talk.wait_until("ready")
    silent.set()
    talk.assert_paid_once()


def test_an_outage_without_an_end_fails_the_item_and_a_retry_goes_on_where_it_was(
    talk: "Talk",
) -> None:
    talk.vendor.failures["look"] = [down() for _ in range(TRIES)]
    talk.send()
    talk.wait_until("failed")
    talk.assert_told("provider_unavailable", "AssemblyAI did not answer")
    assert (talk.vendor.failures["look"], len(talk.vendor.submissions)) == ([], 1)
    assert talk.retry() == 202
    talk.wait_until("ready")
    talk.assert_paid_once()


@pytest.mark.parametrize(
    ("verb", "refusal", "reason", "says"),
    [
        ("submit", USED_UP, "vendor_quota", "account is used up; top it up"),
        ("upload", as_json({}, 401), "provider_unavailable", "set ASSEMBLYAI_API_KEY to one"),
        ("submit", as_json({"error": "No such model"}, 400), "transcription_failed", "such model"),
    ],
)
def test_a_refusal_fails_the_item_at_the_first_try_and_a_retry_brings_it_back(
    talk: "Talk", verb: str, refusal: Response, reason: str, says: str
) -> None:
    talk.vendor.failures[verb] = [refusal, down()]
    talk.send()
    talk.wait_until("failed")
    talk.assert_told(reason, says)
    assert len(talk.vendor.failures[verb]) == 1
    assert talk.retry() == 202
    talk.wait_until("ready")
    talk.assert_paid_once()


def test_a_job_that_the_vendor_gave_up_is_handed_in_anew_by_a_retry(talk: "Talk") -> None:
    talk.vendor.error = "Audio duration is too short."
    talk.send()
    talk.wait_until("failed")
    talk.assert_told("transcription_failed", "Audio duration is too short.")
    talk.vendor.error = ""
    assert talk.retry() == 202
    talk.wait_until("ready")
    assert len(talk.vendor.submissions) == 2
    assert talk.minutes() == (SECONDS, 0)


def test_a_fault_of_our_own_fails_the_item_after_its_last_try(
    talk: "Talk", monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("nobody thought of this")

    with monkeypatch.context() as patch:
        patch.setattr(AssemblyAITranscriber, "transcribe", broken)
        talk.send()
        talk.wait_until("failed")
    talk.assert_told("internal_error", "Something went wrong here; retry")
    assert talk.retry() == 202
    talk.wait_until("ready")
    talk.assert_paid_once()


def test_a_retry_needs_minutes_that_are_left(talk: "Talk") -> None:
    talk.vendor.failures["submit"] = [USED_UP]
    talk.send()
    talk.wait_until("failed")
    Tier.objects.update(minutes_per_month=0)
    assert talk.retry() == 402
    assert talk.shown()["status"] == "failed"
    Tier.objects.update(minutes_per_month=1)
    assert talk.retry() == 202
    assert talk.retry() == 409
    talk.wait_until("ready")
    talk.assert_paid_once()


# Waiting -----------------------------------------------------------------------------------


def test_while_the_vendor_works_nobody_opens_the_file_again(talk: "Talk") -> None:
    talk.vendor.looks_needed = 5
    talk.send()
    eventually(lambda: talk.vendor.asked("look"))
    talk.original.unlink()
    talk.wait_until("ready")
    talk.assert_paid_once()


def test_what_another_worker_has_in_hand_is_looked_after_until_it_is_done(
    talk: "Talk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "ANOTHER_AT_IT_SEC", 0.01)
    with monkeypatch.context() as patch:
        patch.setattr(extraction, "try_advisory_lock", lambda content_id: nullcontext(False))
        talk.send()
        # Each job sends the next one before it is gone, and may have done so by now.
        first = Job.objects.values_list("pk", flat=True)[0]
        eventually(lambda: not Job.objects.filter(pk=first).exists())
        assert Job.objects.exists()
    talk.wait_until("ready")
    talk.assert_paid_once()


# Means -----------------------------------------------------------------------------------


class Vendor(AssemblyAI):
    """AssemblyAI, and how far it was asked."""

    def asked(self, verb: str) -> bool:
        if verb == "look":
            return any(job["looks"] for job in self.jobs.values())
        return bool(self.uploads if verb == "upload" else self.submissions)


@dataclass
class Talk:
    """A recording of three seconds on its way through the vendor."""

    vendor: Vendor
    token: Minted
    path: Path
    item_id: str = ""

    @property
    def client(self) -> APIClient:
        return self.token.client

    def send(self) -> None:
        access, size = self.token.access, self.path.stat().st_size
        begun = begin_upload(access, filename="talk.wav", media_type="audio/wav", size=size)
        live_store().put(begun.upload.key, self.path)
        self.item_id = str(finish_upload(access, begun.upload.pk, kinds=RECORDINGS).item.pk)

    @property
    def original(self) -> Path:
        """The file as it is kept."""
        return next(path for path in self.path.parent.rglob("files/*/*") if path.is_file())

    def wait_until(self, status: str) -> None:
        eventually(lambda: self.shown()["status"] == status)

    def shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = self.client.get(f"/api/v1/items/{self.item_id}").json()
        return shown

    def retry(self) -> int:
        return self.client.post(f"/api/v1/items/{self.item_id}/retry").status_code

    def minutes(self) -> tuple[int, int]:
        usage = Usage.objects.get()
        return usage.transcription_sec_used, usage.transcription_sec_reserved

    def assert_told(self, reason: str, says: str) -> None:
        """Why it failed, wherever somebody looks; and nothing was used."""
        shown = self.shown()
        progress = shown["progress"]
        assert (progress["state"], progress["reason"]) == ("failed", reason)
        assert says in progress["error"]
        assert shown["transcription_error"] == shown["index_error"] == progress["error"]
        assert (shown["transcription_status"], shown["index_status"]) == ("failed", "failed")
        assert [each.event for each in Delivery.objects.all()] == ["item.failed"]
        assert self.minutes() == (0, 0)

    def assert_paid_once(self) -> None:
        assert len(self.vendor.submissions) == 1
        assert self.minutes() == (SECONDS, 0)
        shown = self.shown()
        assert "Granite is hard." in shown["text"]
        assert (shown["transcription_status"], shown["transcription_error"]) == ("done", "")


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with HTTPServer(threaded=True) as server:
        yield Vendor(server)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("min_backoff", "max_backoff"):
        monkeypatch.setitem(contents.transcribe_content.options, name, 1)
    for name in ("SOONEST_SEC", "SETTLING_SEC", "WAIT_OF_AGE"):
        monkeypatch.setattr(vendor_job, name, 0.01)


@pytest.fixture
def worker(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs what is sent, from now to the end of the test."""
    monkeypatch.setattr(consumer, "POLL_SEC", 0.02)
    with working(send_to_the_table(monkeypatch)):
        yield


@pytest.fixture
def patience() -> float:
    """How many seconds an answer of the vendor may take."""
    return 10


@pytest.fixture
def talk(
    vendor: Vendor,
    patience: float,
    mint: Mint,
    no_pauses: None,
    worker: None,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Talk:
    transcriber = AssemblyAITranscriber("a key", base_url=vendor.url, seconds=patience)
    monkeypatch.setitem(providers._TRANSCRIBERS, "assemblyai", lambda: transcriber)
    monkeypatch.setattr(audio, "probe", lambda path: SECONDS - 0.6)
    settings.QUARRY_TRANSCRIBER = "assemblyai"
    settings.QUARRY_HOME = tmp_path
    Tier.objects.create(name="small", minutes_per_month=1, is_default=True)
    token = mint()
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{vendor.server.host}:{vendor.server.port}"]
    vendor.server.expect_request("/hook").respond_with_data("thanks")
    create_webhook(token.access, vendor.server.url_for("/hook"), ["item.failed"])
    return Talk(vendor, token, written(tmp_path / "talk.wav", silence(SECONDS - 0.6)))
