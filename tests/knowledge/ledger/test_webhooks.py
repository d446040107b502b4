"""Webhooks: who may have one, what they are told, and what becomes of a delivery."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import socket
from typing import Any
from uuid import UUID, uuid4

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import transaction
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.errors import (
    CapabilityDenied,
    Conflict,
    InvalidInput,
    NotFound,
    ProviderUnavailable,
)
from knowledge.ingest import followups
from knowledge.ledger import webhooks
from knowledge.models import Content, Delivery, Folder, Item, Webhook, WebhookEvent
from tests.support.library import Add, Mint
from tests.support.rollback import each_case
from tests.support.wire.receiver import Receiver

READY, FAILED = WebhookEvent.ITEM_READY, WebhookEvent.ITEM_FAILED
PUBLIC = "https://example.org/hook"


@pytest.fixture
def receiver(httpserver: HTTPServer, settings) -> Iterator[Receiver]:
    local = Receiver(httpserver)
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [local.host]
    yield local
    httpserver.check_assertions()


@pytest.fixture
def webhook(library: Access, receiver: Receiver) -> Webhook:
    made = webhooks.create_webhook(library, receiver.url)
    receiver.secret = made.secret
    return made


def announced(item: Item, event: WebhookEvent = READY) -> Delivery:
    (delivery_id,) = webhooks.announce(event, item)
    return Delivery.objects.get(pk=delivery_id)


def state_of(delivery: Delivery) -> tuple[str, int, str]:
    delivery.refresh_from_db()
    return delivery.state, delivery.attempts, delivery.answer


# What is told -----------------------------------------------------------------------------


def test_a_ready_item_is_told_signed_and_without_its_text(
    add: Add, webhook: Webhook, receiver: Receiver
) -> None:
    item = add("Stone", "Granite is hard.")
    delivery = announced(item)

    followups.deliver_webhook(str(delivery.pk))

    assert state_of(delivery) == ("delivered", 1, "HTTP 204")
    (told,) = receiver.told
    assert receiver.ids == [str(delivery.pk)] == [told["id"]]
    assert told["event"] == "item.ready"
    assert told["item"] == {
        "user_item_id": str(item.pk),
        "content_id": str(item.content_id),
        "title": "Stone",
        "status": "ready",
        "kind": "text",
    }
    assert "Granite" not in str(told)


def test_a_failed_item_is_told_with_its_reason(
    add: Add, webhook: Webhook, receiver: Receiver
) -> None:
    item = add("Stone")
    Content.objects.filter(pk=item.content_id).update(state="failed", error="It is broken.")
    item.refresh_from_db()

    webhooks.deliver(announced(item, FAILED).pk)

    (told,) = receiver.told
    assert (told["event"], told["item"]["status"]) == ("item.failed", "failed")
    assert told["item"]["error"] == "It is broken."


def test_letters_of_every_script_arrive_as_they_were_signed(
    add: Add, webhook: Webhook, receiver: Receiver
) -> None:
    delivery = announced(add("Žulový lom 花岗岩 🪨"))
    webhooks.deliver(delivery.pk)
    assert receiver.told[0]["item"]["title"] == "Žulový lom 花岗岩 🪨"


def test_only_active_webhooks_of_the_owner_that_want_the_event_are_told(
    library: Access, stranger: User, add: Add
) -> None:
    wanted = webhooks.create_webhook(library, PUBLIC, ["item.ready"])
    webhooks.create_webhook(library, PUBLIC, ["item.failed", "quota.near"])
    off = webhooks.create_webhook(library, PUBLIC)
    Webhook.objects.filter(pk=off.pk).update(is_active=False)
    webhooks.create_webhook(Access.whole_library(stranger.pk), PUBLIC)

    assert announced(add("Stone")).webhook_id == wanted.pk


def test_an_announcement_that_is_rolled_back_leaves_nothing(add: Add, webhook: Webhook) -> None:
    item = add("Stone")
    with transaction.atomic():
        assert len(webhooks.announce(READY, item)) == 1
        transaction.set_rollback(True)
    assert Delivery.objects.count() == 1  # of the addition itself


def test_what_is_told_stays_as_it_was_when_the_item_changes(
    add: Add, webhook: Webhook, receiver: Receiver
) -> None:
    item = add("Before")
    delivery = announced(item)
    Content.objects.update(title="After")
    webhooks.deliver(delivery.pk)
    assert receiver.told[0]["item"]["title"] == "Before"


# How it goes ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_a_receiver_that_cannot_now_is_told_again_under_the_same_id(
    add: Add, webhook: Webhook, receiver: Receiver, status: int
) -> None:
    delivery = announced(add("Stone"))
    receiver.statuses = [status, 200]

    with pytest.raises(ProviderUnavailable) as caught:
        webhooks.deliver(delivery.pk)
    assert caught.value.details["may_pass"] is True
    assert state_of(delivery) == ("queued", 1, f"HTTP {status}")

    webhooks.deliver(delivery.pk)
    assert state_of(delivery) == ("delivered", 2, "HTTP 200")
    assert receiver.ids == [str(delivery.pk)] * 2
    assert receiver.told[0] == receiver.told[1]


def test_each_try_is_signed_for_its_own_time(
    add: Add, webhook: Webhook, receiver: Receiver
) -> None:
    delivery = announced(add("Stone"))
    receiver.statuses = [500]
    with pytest.raises(ProviderUnavailable):
        webhooks.deliver(delivery.pk)
    with time_machine.travel("2030-01-01", tick=True):
        webhooks.deliver(delivery.pk)  # the receiver's clock is the same one
    assert state_of(delivery)[0] == "delivered"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_final(add: Add, webhook: Webhook, receiver: Receiver, status: int) -> None:
    delivery = announced(add("Stone"))
    receiver.statuses = [status]
    webhooks.deliver(delivery.pk)
    webhooks.deliver(delivery.pk)
    assert state_of(delivery) == ("failed", 1, f"HTTP {status}")
    assert len(receiver.told) == 1


def test_a_receiver_that_is_gone_is_never_told_again(
    add: Add, webhook: Webhook, receiver: Receiver
) -> None:
    item = add("Stone")
    first, second = announced(item), announced(item)
    receiver.statuses = [410]

    webhooks.deliver(first.pk)
    webhooks.deliver(second.pk)

    webhook.refresh_from_db()
    assert webhook.is_active is False
    assert state_of(first)[0] == state_of(second)[0] == "failed"
    assert "switched off" in second.answer
    assert len(receiver.told) == 1
    assert webhooks.announce(READY, item) == []


def test_a_redirect_is_not_followed(add: Add, webhook: Webhook, receiver: Receiver) -> None:
    delivery = announced(add("Stone"))
    receiver.statuses, receiver.headers = [302], {"Location": receiver.url}
    webhooks.deliver(delivery.pk)
    state, _, answer = state_of(delivery)
    assert state == "failed"
    assert "redirects are not followed" in answer
    assert len(receiver.told) == 1


def test_the_last_try_leaves_a_failure_with_its_reason(
    add: Add, webhook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery = announced(add("Stone"))
    receiver.statuses = [500, 503]
    monkeypatch.setattr(followups, "is_last_try", lambda: False)
    with pytest.raises(ProviderUnavailable):
        followups.deliver_webhook(str(delivery.pk))
    monkeypatch.setattr(followups, "is_last_try", lambda: True)
    followups.deliver_webhook(str(delivery.pk))
    assert state_of(delivery) == ("failed", 2, "HTTP 503")


def test_nobody_there_may_come_back(library: Access, add: Add, settings) -> None:
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        nowhere = f"127.0.0.1:{silent.getsockname()[1]}"
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [nowhere]
        webhooks.create_webhook(library, f"http://{nowhere}/hook")
        delivery = announced(add("Stone"))
        with pytest.raises(ProviderUnavailable):
            webhooks.deliver(delivery.pk)
    assert state_of(delivery)[:2] == ("queued", 1)


def test_an_address_that_became_private_is_refused_for_good(
    add: Add, webhook: Webhook, receiver: Receiver, settings
) -> None:
    delivery = announced(add("Stone"))
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = []
    webhooks.deliver(delivery.pk)
    state, attempts, answer = state_of(delivery)
    assert (state, attempts, receiver.told) == ("failed", 1, [])
    assert answer


def test_a_name_that_resolves_to_a_private_address_is_refused_for_good(
    library: Access, add: Add, receiver: Receiver, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhooks.create_webhook(library, "http://rebound.example.org:8080/hook")
    found = [(2, 1, 6, "", ("127.0.0.1", 8080))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *args, **options: found)
    delivery = announced(add("Stone"))
    webhooks.deliver(delivery.pk)
    state, _, answer = state_of(delivery)
    assert state == "failed"
    assert "private" in answer


def test_a_delivery_can_be_sent_once_more(add: Add, webhook: Webhook, receiver: Receiver) -> None:
    delivery = announced(add("Stone"))
    receiver.statuses = [400]
    webhooks.deliver(delivery.pk)
    webhooks.queue_again(delivery.pk)
    webhooks.deliver(delivery.pk)
    assert state_of(delivery) == ("delivered", 1, "HTTP 204")


def test_a_test_tells_nothing_of_any_item(webhook: Webhook, receiver: Receiver) -> None:
    webhooks.deliver(webhooks.announce_test(webhook))
    (told,) = receiver.told
    assert told.keys() == {"id", "event", "created_at"}
    assert told["event"] == "webhook.test"


@pytest.mark.django_db
def test_a_delivery_that_is_gone_is_no_error() -> None:
    webhooks.deliver(UUID(int=0))
    webhooks.mark_failed(UUID(int=0))


def test_the_signature_is_the_one_that_the_standard_gives_as_its_example() -> None:
    """The vector of the Standard Webhooks specification's own libraries."""
    webhook = Webhook(secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signature = webhooks.sign(
        webhook.signing_key,
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_check_that_the_docs_show_knows_true_from_forged() -> None:
    docs = Path(__file__).parents[3] / "docs" / "rest" / "webhooks.md"
    shown: dict[str, Any] = {}
    exec(docs.read_text().partition("```python")[2].partition("```")[0], shown)
    webhook, now = Webhook(), int(time.time())
    headers = {"webhook-id": "1", "webhook-timestamp": str(now)}
    headers["webhook-signature"] = webhooks.sign(
        webhook.signing_key, message_id="1", timestamp=now, body=b"{}"
    )
    assert shown["is_from_quarry"](webhook.secret, headers, b"{}")
    assert not shown["is_from_quarry"](webhook.secret, headers, b"[]")
    assert not shown["is_from_quarry"](Webhook().secret, headers, b"{}")
    headers["webhook-timestamp"] = str(now - 1000)
    assert not shown["is_from_quarry"](webhook.secret, headers, b"{}")


# Who may have one -------------------------------------------------------------------------


def test_every_secret_is_another_and_long_enough(library: Access) -> None:
    first, second = (webhooks.create_webhook(library, PUBLIC) for _ in range(2))
    assert first.secret != second.secret
    assert len(first.signing_key) == 32


@each_case(
    "url",
    [
        "",
        "example.org/hook",
        "ftp://example.org/hook",
        "http://user:pass@example.org/",
        "http://127.0.0.1/hook",
        "http://[::1]/hook",
        "http://169.254.169.254/latest/meta-data",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://localhost/hook",
        "http://metadata.internal/",
        "https://example.org:22/",
        f"https://example.org/{'x' * 2000}",
    ],
)
def test_an_address_that_must_not_be_told_is_refused(library: Access, url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        webhooks.create_webhook(library, url)
    assert caught.value.details["field"] == "url"
    assert not Webhook.objects.exists()


def test_events_are_known_ones_each_once(library: Access) -> None:
    made = webhooks.create_webhook(library, PUBLIC, ["item.ready", "item.ready"])
    assert made.events == ["item.ready"]
    for events in ([], ["item.eaten"]):
        with pytest.raises(InvalidInput, match="events"):
            webhooks.create_webhook(library, PUBLIC, events)


def test_there_is_a_most(library: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "MAX_WEBHOOKS", 1)
    webhooks.create_webhook(library, PUBLIC)
    with pytest.raises(Conflict, match="delete one"):
        webhooks.create_webhook(library, PUBLIC)


def test_who_does_not_see_every_item_has_no_webhooks(
    library: Access, mint: Mint, folder: Callable[[str], Folder]
) -> None:
    webhook = webhooks.create_webhook(library, PUBLIC)
    for token in (mint(folder("A")), mint(write=False), mint(kb_only=True)):
        for ask in (
            lambda access: webhooks.list_webhooks(access),
            lambda access: webhooks.create_webhook(access, PUBLIC),
            lambda access: webhooks.delete_webhook(access, webhook.pk),
        ):
            with pytest.raises(CapabilityDenied):
                ask(token.access)
    assert Webhook.objects.count() == 1


def test_a_strangers_webhook_is_not_there(library: Access, stranger: User) -> None:
    theirs = webhooks.create_webhook(Access.whole_library(stranger.pk), PUBLIC)
    assert webhooks.list_webhooks(library) == []
    for webhook_id in (theirs.pk, uuid4()):
        with pytest.raises(NotFound):
            webhooks.delete_webhook(library, webhook_id)
