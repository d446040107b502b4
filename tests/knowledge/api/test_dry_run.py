"""What an addition would be and cost, told before anything is kept or spent."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from pytest_httpserver import HTTPServer
from werkzeug import Response

from knowledge import providers
from knowledge.access import Access
from knowledge.ledger import quotas
from knowledge.models import Reservation, Tier, Usage
from knowledge.providers.fake import FakeTranscriber
from tests.support.adding import (
    add_link,
    rows,
    run_jobs,
    serve_episode,
    serve_recording,
    serve_unmeasured,
)
from tests.support.library import LONG_ENOUGH, Mint
from tests.support.pages import ARTICLE, serve_page
from tests.support.rollback import each_case

NOTHING = {"Content": 0, "Item": 0, "Link": 0, "Chunk": 0}
UNLIMITED = {"tier": "unlimited", "cap_per_month": None, "used": 0.0, "remaining": None}
FREE = {"dry_run": True, "minutes": 0.0, "cost_usd": 0.0, "fits_quota": True, "quota": UNLIMITED}


@pytest.fixture(autouse=True)
def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(providers._TRANSCRIBERS, "fake", lambda: FakeTranscriber(usd_per_hour=0.24))


@pytest.fixture
def theirs(stranger: User) -> Access:
    return Access.whole_library(stranger.pk)


def estimated(mint: Mint, **body: Any) -> tuple[int, Any]:
    """What the route answers, once it is sure that nothing was kept or spent by it."""
    before = rows(), Reservation.objects.count(), Usage.objects.count()
    asked = {"dry_run": True, **body}
    answer = mint().client.post("/api/v1/ingest", asked, format="json")
    assert (rows(), Reservation.objects.count(), Usage.objects.count()) == before
    assert run_jobs() == []
    return answer.status_code, answer.json()


def test_a_text_costs_nothing(mint: Mint) -> None:
    told = estimated(mint, kind="text", title="Notes", text="Granite." + LONG_ENOUGH)
    assert told == (200, {**FREE, "kind": "text", "title": "Notes", "status": "ready"})


@each_case(
    "body, error, field",
    [
        ({"kind": "text", "title": "T"}, "invalid_body", "text"),
        ({"kind": "text", "text": "Granite." + LONG_ENOUGH}, "invalid_body", "title"),
        ({"kind": "text", "title": "T", "text": "short"}, "invalid_body", "text"),
        ({"kind": "url"}, "invalid_body", "url"),
        ({"kind": "url", "url": ""}, "invalid_body", "url"),
        ({"kind": "url", "url": "not an address"}, "invalid_body", "url"),
        ({"kind": "url", "url": "ftp://example.org/x"}, "invalid_body", "url"),
        ({"kind": "url", "url": "https://"}, "invalid_body", "url"),
        ({"kind": "url", "url": "https://a.example/" + "x" * 4000}, "invalid_body", "url"),
        ({"kind": "url", "url": "data:audio/mpeg;base64,AAAA"}, "forbidden_binary", None),
        ({"kind": "file", "url": "https://a.example/"}, "forbidden_binary", None),
    ],
)
def test_what_could_not_be_added_is_refused_alike(
    mint: Mint, body: dict[str, str], error: str, field: str | None
) -> None:
    status, told = estimated(mint, **body)
    assert (status, told["error"], told.get("field")) == (400, error, field)
    answer = mint().client.post("/api/v1/ingest", body, format="json")
    assert {**answer.json(), "request_id": ""} == {**told, "request_id": ""}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:10.0.0.1]/",
        "http://2130706433/",
        "http://localhost/",
    ],
)
def test_an_address_inside_is_refused(mint: Mint, url: str) -> None:
    status, told = estimated(mint, kind="url", url=url)
    assert (status, told["error"], told["reason"]) == (422, "ingest_failed", "refused_address")


def test_an_address_that_does_not_answer_says_why(mint: Mint, site: HTTPServer) -> None:
    site.expect_request("/x").respond_with_response(Response("", 404))
    status, told = estimated(mint, kind="url", url=site.url_for("/x"))
    assert (status, told["error"], told["reason"]) == (422, "ingest_failed", "gone")


def test_a_page_costs_nothing_known_or_not(mint: Mint, theirs: Access, site: HTTPServer) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    expected = {
        **FREE,
        "kind": "webpage",
        "title": "How rivers carve stone",
        "status": "ready",
    }
    assert estimated(mint, kind="url", url=url) == (200, expected)
    assert rows() == NOTHING
    add_link(theirs, url)
    fetches = len(site.log)
    assert estimated(mint, kind="url", url=url + "?utm_source=x") == (200, expected)
    assert len(site.log) == fetches


def test_a_recording_costs_its_minutes(mint: Mint, site: HTTPServer) -> None:
    url = serve_episode(site, told=5400)
    told = estimated(mint, kind="url", url=url)[1]
    assert (told["kind"], told["title"], told["status"]) == (
        "podcast",
        "Episode one",
        "transcribing",
    )
    assert (told["minutes"], told["cost_usd"], told["fits_quota"]) == (90.0, 0.36, True)


def test_of_a_recording_that_does_not_tell_its_length_the_cost_is_not_known(
    mint: Mint, site: HTTPServer
) -> None:
    told = estimated(mint, kind="url", url=serve_unmeasured(site))[1]
    assert (told["kind"], told["title"], told["status"]) == ("audio", "talk", "transcribing")
    assert (told["minutes"], told["cost_usd"], told["fits_quota"]) == (None, None, True)


def test_the_minutes_of_a_direct_link_are_told_by_the_recording_itself(
    mint: Mint, site: HTTPServer
) -> None:
    told = estimated(mint, kind="url", url=serve_recording(site, seconds=90))[1]
    assert (told["kind"], told["status"]) == ("audio", "transcribing")
    assert (told["minutes"], told["cost_usd"], told["fits_quota"]) == (1.5, 0.006, True)


def test_the_second_direct_link_that_does_not_fit_is_refused_at_once_and_leaves_nothing(
    mint: Mint, site: HTTPServer
) -> None:
    Tier.objects.create(name="free", minutes_per_month=1, is_default=True)
    client = mint().client
    first = {"kind": "url", "url": serve_recording(site, "/one.wav", seconds=40)}
    assert client.post("/api/v1/ingest", first, format="json").status_code == 201
    kept = rows(), Reservation.objects.count(), Usage.objects.get().transcription_sec_reserved

    second = {"kind": "url", "url": serve_recording(site, "/two.wav", seconds=40)}
    answer = client.post("/api/v1/ingest", second, format="json")

    assert answer.status_code == 402
    told = answer.json()
    assert told["error"] == "quota_exceeded"
    assert (told["resource"], told["tier"]) == ("transcription_minutes", "free")
    assert (told["cap_per_month"], told["used"]) == (1, 0.67)
    now = rows(), Reservation.objects.count(), Usage.objects.get().transcription_sec_reserved
    assert now == kept
    assert run_jobs() == ["transcribe_content", "embed_item"]  # the first one's


def test_a_recording_that_is_known_costs_nothing(
    mint: Mint, theirs: Access, site: HTTPServer
) -> None:
    url = serve_episode(site, told=20)
    add_link(theirs, url)
    told = estimated_without_jobs(mint, url)
    assert (told["status"], told["minutes"], told["cost_usd"]) == ("transcribing", 0.0, 0.0)
    told = estimated(mint, kind="url", url=url)[1]
    assert (told["status"], told["minutes"], told["cost_usd"]) == ("ready", 0.0, 0.0)


def estimated_without_jobs(mint: Mint, url: str) -> Any:
    asked = {"kind": "url", "url": url, "dry_run": True}
    answer = mint().client.post("/api/v1/ingest", asked, format="json")
    assert run_jobs() == ["transcribe_content", "embed_item"]  # the other's, from before
    return answer.json()


@pytest.mark.parametrize(
    ("used", "told_sec", "fits"),
    [(0, 60, True), (0, 61, False), (40, 20, True), (40, 21, False), (60, 1, False)],
)
def test_whether_it_fits_is_told_to_the_second(
    mint: Mint, owner: User, site: HTTPServer, used: int, told_sec: int, fits: bool
) -> None:
    Tier.objects.create(name="free", minutes_per_month=1, is_default=True)
    quotas.reserve(owner.pk, uuid4(), used)
    url = serve_episode(site, told=told_sec)
    told = estimated(mint, kind="url", url=url)[1]
    assert told["fits_quota"] is fits
    assert (told["quota"]["tier"], told["quota"]["cap_per_month"]) == ("free", 1)
    answer = mint().client.post("/api/v1/ingest", {"kind": "url", "url": url}, format="json")
    assert answer.status_code == (201 if fits else 402)


def test_of_an_unknown_length_it_fits_while_a_minute_is_left(
    mint: Mint, owner: User, site: HTTPServer
) -> None:
    Tier.objects.create(name="free", minutes_per_month=1, is_default=True)
    url = serve_unmeasured(site)
    assert estimated(mint, kind="url", url=url)[1]["fits_quota"] is True
    quotas.reserve(owner.pk, uuid4(), 1)
    assert estimated(mint, kind="url", url=url)[1]["fits_quota"] is False
    text = {"kind": "text", "title": "T", "text": "Granite." + LONG_ENOUGH}
    assert estimated(mint, **text)[1]["fits_quota"] is True


def test_a_token_that_may_not_write_may_not_ask(mint: Mint) -> None:
    asked = {"kind": "url", "url": "https://example.org/", "dry_run": True}
    answer = mint(write=False).client.post("/api/v1/ingest", asked, format="json")
    assert (answer.status_code, answer.json()["error"]) == (403, "capability_denied")
