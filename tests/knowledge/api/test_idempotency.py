"""A POST with an Idempotency-Key runs once, however often it is sent."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from knowledge.errors import Conflict, ProviderUnavailable
from knowledge.ingest import sweeps
from knowledge.ledger import idempotency
from knowledge.models import Folder, IdempotencyRecord, Item, Webhook
from tests.support.library import LONG_ENOUGH, Mint
from tokens.models import Event, Token

NOTE = {"kind": "text", "title": "Note", "text": "Granite." + LONG_ENOUGH}
KEY = "order-66"


def post(client: APIClient, route: str, body: Any = None, key: str | None = KEY) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(f"/api/v1/{route}", body, format="json", headers=headers)


def test_a_repeated_call_is_answered_as_before_and_runs_once(mint: Mint) -> None:
    client = mint().client
    first, again = post(client, "ingest", NOTE), post(client, "ingest", NOTE)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert again["Idempotent-Replayed"] == "true"
    assert not first.has_header("Idempotent-Replayed")
    assert Item.objects.count() == 1
    assert list(Event.objects.order_by("pk").values_list("outcome", flat=True)) == [
        "ok",
        "replayed",
    ]


def test_without_a_key_each_call_is_its_own(mint: Mint) -> None:
    client = mint().client
    for _ in range(2):
        assert post(client, "ingest", NOTE, key=None).status_code == 201
    assert Item.objects.count() == 2
    assert not IdempotencyRecord.objects.exists()


def test_a_key_with_another_body_is_a_conflict(mint: Mint) -> None:
    client = mint().client
    post(client, "ingest", NOTE)
    refused = post(client, "ingest", {**NOTE, "title": "Other"})
    assert (refused.status_code, refused.json()["error"]) == (409, "conflict")
    assert refused.json()["reason"] == "idempotency_key_reused"
    assert Item.objects.count() == 1


def test_a_key_belongs_to_its_token_and_its_route(mint: Mint) -> None:
    one, other = mint().client, mint().client
    assert post(one, "ingest", NOTE).status_code == 201
    assert post(other, "ingest", NOTE).status_code == 201
    assert post(one, "folders", {"name": "A"}).status_code == 201
    assert (Item.objects.count(), Folder.objects.count()) == (2, 1)


def test_a_refusal_is_kept_too(mint: Mint) -> None:
    client = mint().client
    post(client, "folders", {"name": "A"}, key="first")
    refused = post(client, "folders", {"name": "a"})
    Folder.objects.all().delete()
    again = post(client, "folders", {"name": "a"})
    assert refused.status_code == again.status_code == 409
    assert again.json() == refused.json()


def test_a_failure_of_ours_is_not_kept(mint: Mint, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ProviderUnavailable("Away.")

    client = mint().client
    with monkeypatch.context() as patched:
        patched.setattr("knowledge.ingest.adding.add_to_knowledge", broken)
        assert post(client, "ingest", NOTE).status_code == 503
    assert post(client, "ingest", NOTE).status_code == 201


def test_while_the_first_call_runs_the_second_is_told_to_wait(mint: Mint) -> None:
    client = mint().client
    post(client, "ingest", NOTE)
    IdempotencyRecord.objects.update(status=None, body="")
    waiting = post(client, "ingest", NOTE)
    assert (waiting.status_code, waiting.json()["reason"]) == (409, "still_running")
    assert waiting["Retry-After"] == "2"
    assert Item.objects.count() == 1


def test_a_call_that_died_with_its_process_may_be_repeated(mint: Mint) -> None:
    client = mint().client
    post(client, "ingest", NOTE)
    begun = timezone.now() - idempotency.LOST_AFTER
    IdempotencyRecord.objects.update(status=None, body="", created_at=begun)
    assert post(client, "ingest", NOTE).status_code == 201
    assert Item.objects.count() == 2


def test_a_key_is_good_for_a_day(mint: Mint) -> None:
    client = mint().client
    start = timezone.now()
    with time_machine.travel(start, tick=False) as clock:
        post(client, "ingest", NOTE)
        clock.shift(timedelta(hours=24) - timedelta(seconds=1))
        assert post(client, "ingest", NOTE)["Idempotent-Replayed"] == "true"
        sweeps.sweep_leftovers()
        assert IdempotencyRecord.objects.count() == 1
        clock.shift(timedelta(seconds=2))
        assert not post(client, "ingest", NOTE).has_header("Idempotent-Replayed")
        clock.shift(timedelta(hours=25))
        sweeps.sweep_leftovers()
        assert not IdempotencyRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_calls_at_once_one_runs_and_the_others_wait() -> None:
    at_once = Barrier(4)

    def claim(_: int) -> str:
        at_once.wait()
        try:
            idempotency.claim(caller="token:x", route="/r", key=KEY, request_hash="h")
        except Conflict as error:
            return str(error.details["reason"])
        finally:
            connection.close()
        return "runs"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(claim, range(4))) == ["runs", *["still_running"] * 3]


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there", "caf\xe9"])
def test_a_key_that_is_no_key_is_refused(mint: Mint, key: str) -> None:
    refused = post(mint().client, "ingest", NOTE, key=key)
    assert (refused.status_code, refused.json()["field"]) == (400, "Idempotency-Key")
    assert not Item.objects.exists()


def test_a_webhooks_secret_is_never_kept(mint: Mint) -> None:
    client = mint().client
    body = {"url": "https://example.org/hook"}
    secret = post(client, "webhooks", body).json()["secret"]
    again = post(client, "webhooks", body)
    assert (again.status_code, again.json()["reason"]) == (409, "secret_shown_once")
    assert Webhook.objects.count() == 1
    assert secret not in str(list(IdempotencyRecord.objects.values()))


def test_a_token_is_minted_once_and_its_secret_never_kept(owner: User) -> None:
    person = APIClient()
    person.force_login(owner)
    body = {"name": "Reader", "is_unscoped": True}
    secret = post(person, "tokens", body).json()["token"]
    again = post(person, "tokens", body)
    assert (again.status_code, again.json()["reason"]) == (409, "secret_shown_once")
    assert Token.objects.count() == 1
    assert secret not in str(list(IdempotencyRecord.objects.values()))


def test_a_repeat_by_a_revoked_token_learns_nothing(mint: Mint) -> None:
    minted = mint()
    post(minted.client, "ingest", NOTE)
    Token.objects.filter(pk=minted.row.pk).revoke()
    assert post(minted.client, "ingest", NOTE).status_code == 401
