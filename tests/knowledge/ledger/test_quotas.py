"""Minutes of transcription: nobody uses more than they have, and nobody pays for nothing."""

import threading
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
import time_machine
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge import providers
from knowledge.access import Access
from knowledge.errors import QuarryError, QuotaExceeded
from knowledge.ingest import sweeps
from knowledge.ledger import quotas, webhooks
from knowledge.library import items as shelves
from knowledge.models import (
    Allowance,
    Content,
    Delivery,
    Item,
    Reservation,
    Tier,
    Usage,
)
from knowledge.providers.fake import FakeTranscriber
from mcp_gateway.calls import call_tool
from mcp_gateway.errors import JSON_RPC_CODES, error_data
from mcp_gateway.identity import Caller
from tests.support.adding import (
    add_link,
    rows,
    run_jobs,
    serve_episode,
    serve_recording,
)
from tests.support.library import Mint
from tests.support.threads import in_threads

NOVEMBER, DECEMBER = "2026-11-30T23:00:00Z", "2026-12-01T01:00:00Z"


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.QUARRY_HOME = tmp_path
    return tmp_path


def tier(minutes: int | None, name: str = "free", *, is_default: bool = True) -> Tier:
    return Tier.objects.create(name=name, minutes_per_month=minutes, is_default=is_default)


def usage(owner: User) -> tuple[int, int]:
    """Seconds used and reserved in all months."""
    found = Usage.objects.filter(owner=owner)
    return (
        sum(found.values_list("transcription_sec_used", flat=True)),
        sum(found.values_list("transcription_sec_reserved", flat=True)),
    )


def states() -> list[str]:
    return sorted(Reservation.objects.values_list("state", flat=True))


# Who has how much -------------------------------------------------------------------------


def test_without_tiers_there_is_no_cap(owner: User) -> None:
    quotas.reserve(owner.pk, uuid4(), 10_000_000)
    quota = quotas.quota_of(owner.pk)
    assert (quota.tier, quota.cap_per_month, quota.remaining) == ("unlimited", None, None)
    assert quota.used == 166_666.67


def test_an_owner_has_the_tier_they_were_given_else_the_default(
    owner: User, stranger: User
) -> None:
    tier(10)
    generous = tier(600, "pro", is_default=False)
    Allowance.objects.create(owner=owner, tier=generous)
    assert quotas.quota_of(owner.pk).cap_per_month == 600
    assert quotas.quota_of(stranger.pk).cap_per_month == 10
    Tier.objects.filter(name="pro").update(minutes_per_month=None)
    assert quotas.quota_of(owner.pk).remaining is None
    assert quotas.quota_of(owner.pk).tier == "pro"


def test_a_tier_of_nothing_allows_nothing(owner: User) -> None:
    tier(0)
    for seconds in (1, None):
        with pytest.raises(QuotaExceeded):
            quotas.reserve(owner.pk, uuid4(), seconds)
    assert not Reservation.objects.exists()


# Reserved, settled, given back ------------------------------------------------------------


def test_the_last_second_of_a_month_can_be_used_and_no_more(owner: User) -> None:
    tier(1)
    quotas.reserve(owner.pk, uuid4(), 40)
    with pytest.raises(QuotaExceeded) as raised:
        quotas.reserve(owner.pk, uuid4(), 20.5)
    assert raised.value.details == {
        "resource": "transcription_minutes",
        "tier": "free",
        "cap_per_month": 1,
        "used": 0.67,
    }
    quotas.reserve(owner.pk, uuid4(), 20)
    assert quotas.quota_of(owner.pk).remaining == 0
    assert usage(owner) == (0, 60)


def test_what_is_reserved_is_used_or_given_back_to_the_second(owner: User) -> None:
    done, failed, kept = uuid4(), uuid4(), uuid4()
    for content_id, seconds in ((done, 61.2), (failed, 100), (kept, 7)):
        quotas.reserve(owner.pk, content_id, seconds)
    assert usage(owner) == (0, 62 + 100 + 7)
    for _ in range(2):  # twice is once
        quotas.settle(done)
        quotas.give_back(failed)
    quotas.give_back(done)
    assert usage(owner) == (62, 7)
    assert states() == ["reserved", "returned", "settled"]


def test_a_reservation_grows_and_shrinks_and_stays_with_who_asked_first(
    owner: User, stranger: User
) -> None:
    tier(2)
    content_id = uuid4()
    quotas.reserve(owner.pk, content_id, 90)
    quotas.reserve(stranger.pk, content_id, 120)
    assert (usage(owner), usage(stranger)) == ((0, 120), (0, 0))
    with pytest.raises(QuotaExceeded):
        quotas.reserve(owner.pk, content_id, 121)
    quotas.reserve(owner.pk, content_id, 30)
    assert usage(owner) == (0, 30)
    assert Reservation.objects.count() == 1


def test_what_begins_in_one_month_counts_in_that_month(owner: User) -> None:
    tier(1)
    content_id = uuid4()
    with time_machine.travel(NOVEMBER, tick=False):
        quotas.reserve(owner.pk, content_id, 60)
        with pytest.raises(QuotaExceeded):
            quotas.reserve(owner.pk, uuid4(), 1)
    with time_machine.travel(DECEMBER, tick=False):
        assert quotas.quota_of(owner.pk).used == 0
        quotas.reserve(owner.pk, uuid4(), 60)
        quotas.reserve(owner.pk, content_id, 50)
        quotas.settle(content_id)
        assert quotas.quota_of(owner.pk).used == 1
    by_month = {row.month.month: row for row in Usage.objects.all()}
    assert by_month[11].transcription_sec_used == 50
    assert by_month[11].transcription_sec_reserved == 0
    assert by_month[12].transcription_sec_reserved == 60


def test_what_is_reserved_for_contents_that_are_gone_or_done_is_given_back(owner: User) -> None:
    at_work = Content.objects.create(owner=owner, title="At work", state="working")
    failed = Content.objects.create(owner=owner, title="Failed", state="failed")
    for content_id in (at_work.pk, failed.pk, uuid4()):
        quotas.reserve(owner.pk, content_id, 10)
    sweeps.sweep_leftovers.fn()
    assert usage(owner) == (0, 10)
    assert Reservation.objects.get(state="reserved").content_id == at_work.pk


@pytest.mark.django_db(transaction=True)
def test_two_at_once_cannot_overdraw(owner: User) -> None:
    tier(1)
    barrier = threading.Barrier(8)
    refused: list[QuotaExceeded] = []

    def reserve() -> None:
        barrier.wait(30)
        try:
            quotas.reserve(owner.pk, uuid4(), 25)
        except QuotaExceeded as error:
            refused.append(error)

    in_threads([reserve] * 8)
    assert len(refused) == 6
    assert usage(owner) == (0, 50)


@pytest.mark.django_db(transaction=True)
def test_two_links_added_at_once_cannot_overdraw(library: Access, site: HTTPServer) -> None:
    tier(1)
    urls = [serve_episode(site, guid=f"e{n}", told=40, seconds=40) for n in range(3)]
    refused: list[str] = []

    def add(url: str) -> None:
        try:
            add_link(library, url)
        except QuotaExceeded:
            refused.append(url)

    in_threads([partial(add, url) for url in urls])
    assert len(refused) == 2
    assert rows() == {"Content": 1, "Item": 1, "Link": 1, "Chunk": 0}
    run_jobs()
    assert usage(User.objects.get()) == (40, 0)


# Over both edges --------------------------------------------------------------------------


def test_what_does_not_fit_is_refused_alike_over_both_edges_and_leaves_nothing(
    mint: Mint, site: HTTPServer
) -> None:
    tier(1)
    token, url = mint(), serve_episode(site, told=90)
    told = {
        "resource": "transcription_minutes",
        "tier": "free",
        "cap_per_month": 1,
        "used": 0.0,
    }
    answer = token.client.post("/api/v1/ingest", {"kind": "url", "url": url}, format="json")
    assert (answer.status_code, answer.json()["error"]) == (402, "quota_exceeded")
    assert told.items() <= answer.json().items()
    with pytest.raises(QuarryError) as raised:
        call_tool(Caller(token.secret, edge="mcp"), "add_to_knowledge", {"kind": "url", "url": url})
    error = raised.value
    assert JSON_RPC_CODES[error.code] == -32603
    assert error_data(error) == {"error": "quota_exceeded", "http_status": 402, **told}
    assert error.message == answer.json()["message"]
    assert "1.5 minutes" in error.message
    assert rows() == {"Content": 0, "Item": 0, "Link": 0, "Chunk": 0}
    assert not Reservation.objects.exists()
    assert run_jobs() == []


def test_whoami_tells_what_is_left(mint: Mint, owner: User) -> None:
    tier(10)
    quotas.reserve(owner.pk, uuid4(), 150)
    token = mint()
    told = {"tier": "free", "cap_per_month": 10, "used": 2.5, "remaining": 7.5}
    rest = token.client.get("/api/v1/whoami").json()
    mcp = call_tool(Caller(token.secret, edge="mcp"), "whoami", {}).model_dump(mode="json")
    assert rest["quota"] == mcp["quota"] == {"transcription_minutes": told}


# Lengths that turn out otherwise ----------------------------------------------------------


def test_a_recording_longer_than_told_is_paid_in_full(
    library: Access, owner: User, site: HTTPServer
) -> None:
    tier(1)
    add_link(library, serve_episode(site, told=10, seconds=30))
    assert usage(owner) == (0, 10)
    run_jobs()
    assert usage(owner) == (30, 0)


def test_a_recording_shorter_than_told_gives_the_rest_back(
    library: Access, owner: User, site: HTTPServer
) -> None:
    add_link(library, serve_episode(site, told=3000, seconds=30))
    run_jobs()
    assert usage(owner) == (30, 0)


@pytest.mark.parametrize("is_told", [True, False], ids=["told too short", "not told"])
def test_one_that_turns_out_not_to_fit_fails_and_gives_back_before_anything_is_sent(
    library: Access,
    owner: User,
    site: HTTPServer,
    is_told: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transcriber = FakeTranscriber()
    monkeypatch.setitem(providers._TRANSCRIBERS, "fake", lambda: transcriber)
    tier(1)
    monkeypatch.setattr("knowledge.sources.links.remote_length", lambda url: None)
    url = serve_episode(site, told=5, seconds=70) if is_told else serve_recording(site, seconds=70)
    item = add_link(library, url)
    run_jobs()
    item = shelves.get_item(library, item.pk)
    assert (item.status, item.content.reason) == ("failed", "quota_exceeded")
    assert "minutes of transcription" in item.content.error
    assert usage(owner) == (0, 0)
    assert transcriber.submissions == 0

    Tier.objects.update(minutes_per_month=2)
    shelves.retry_item(library, item.pk)
    run_jobs()
    assert shelves.get_item(library, item.pk).status == "ready"
    assert usage(owner) == (70, 0)


def test_of_an_unknown_length_nothing_is_taken_when_not_a_minute_is_left(
    library: Access, owner: User, site: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.sources.links.remote_length", lambda url: None)
    tier(1)
    quotas.reserve(owner.pk, uuid4(), 1)
    with pytest.raises(QuotaExceeded):
        add_link(library, serve_recording(site))
    assert not Item.objects.exists()


def test_a_length_that_cannot_be_is_not_believed(
    library: Access, owner: User, site: HTTPServer
) -> None:
    item = add_link(library, serve_episode(site, told=9_999_999, seconds=20))
    assert usage(owner) == (0, 0)
    run_jobs()
    assert shelves.get_item(library, item.pk).status == "ready"
    assert usage(owner) == (20, 0)


# Nearly used up ---------------------------------------------------------------------------


def test_webhooks_are_told_once_a_month_that_most_is_used(
    library: Access, owner: User, site: HTTPServer
) -> None:
    tier(1)
    webhooks.create_webhook(library, "https://example.org/hook", ["quota.near"])
    told = []
    for guid, seconds in (("a", 40), ("b", 8), ("c", 8)):
        add_link(library, serve_episode(site, guid=guid, told=seconds, seconds=seconds))
        run_jobs()
        told.append(Delivery.objects.count())
    assert told == [0, 1, 1]
    assert Delivery.objects.get().payload["quota"] == {
        "resource": "transcription_minutes",
        "tier": "free",
        "cap_per_month": 1,
        "used": 0.8,
    }


def test_who_has_no_cap_is_never_near(owner: User) -> None:
    content_id = uuid4()
    quotas.reserve(owner.pk, content_id, 1_000_000)
    quotas.settle(content_id)
    assert quotas.newly_near(content_id) is None


def test_a_new_month_is_told_anew(owner: User) -> None:
    tier(1)
    told = []
    for moment in (NOVEMBER, NOVEMBER, DECEMBER):
        with time_machine.travel(moment, tick=False):
            content_id = uuid4()
            quotas.reserve(owner.pk, content_id, 60 if moment == DECEMBER else 30)
            quotas.settle(content_id)
            told.append(quotas.newly_near(content_id))
    assert told == [None, owner.pk, owner.pk]
