import re
from html import unescape

import dramatiq
import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from dramatiq.brokers.stub import StubBroker

from knowledge.access import Access
from knowledge.ledger import webhooks
from knowledge.models import Delivery, DeliveryState, Transform, TransformState, Webhook
from tests.support.admin_pages import read_all
from tests.support.library import Add

ADD = "admin:knowledge_webhook_add"
PUBLIC = "https://example.org/hook"


@pytest.fixture
def webhook(library: Access) -> Webhook:
    return webhooks.create_webhook(library, PUBLIC)


def sent_deliveries() -> list[str]:
    broker = dramatiq.get_broker()
    assert isinstance(broker, StubBroker)
    waiting = [dramatiq.Message.decode(data) for data in broker.queues["default"].queue]
    return [each.args[0] for each in waiting if each.actor_name == "deliver_webhook"]


def test_the_secret_is_on_the_page_that_makes_it_and_on_no_other(
    admin_client: Client, owner: User
) -> None:
    form = {"owner": owner.pk, "url": PUBLIC, "events": ["item.ready"]}
    answer = admin_client.post(reverse(ADD), form)
    secret = Webhook.objects.get().secret
    assert secret in unescape(answer.content.decode())
    assert "no-store" in answer.headers["Cache-Control"]
    assert not list(get_messages(answer.wsgi_request))
    for address, page in read_all(admin_client).items():
        assert secret not in unescape(page), address


def test_a_private_address_is_an_error_of_the_form(admin_client: Client, owner: User) -> None:
    form = {"owner": owner.pk, "url": "http://10.0.0.1/", "events": ["item.ready"]}
    page = admin_client.post(reverse(ADD), form).content.decode()
    assert "private or special address" in page
    assert not Webhook.objects.exists()


def test_a_webhook_is_changed_and_keeps_its_secret(admin_client: Client, webhook: Webhook) -> None:
    address = reverse("admin:knowledge_webhook_change", args=[webhook.pk])
    form = {"url": f"{PUBLIC}/new", "events": ["item.failed"]}
    assert admin_client.post(address, form).status_code == 302
    changed = Webhook.objects.get()
    assert (changed.url, changed.events) == (f"{PUBLIC}/new", ["item.failed"])
    assert (changed.is_active, changed.secret) == (False, webhook.secret)


def test_a_test_is_sent_by_an_action(admin_client: Client, webhook: Webhook) -> None:
    chosen = {"action": "send_test", "_selected_action": [webhook.pk]}
    admin_client.post(reverse("admin:knowledge_webhook_changelist"), chosen)
    delivery = Delivery.objects.get()
    assert delivery.event == webhooks.TEST_EVENT
    assert sent_deliveries() == [str(delivery.pk)]


def test_a_failed_delivery_is_sent_again_by_an_action(
    admin_client: Client, webhook: Webhook
) -> None:
    delivery_id = webhooks.announce_test(webhook)
    Delivery.objects.update(state=DeliveryState.FAILED, attempts=9)
    chosen = {"action": "deliver_again", "_selected_action": [delivery_id]}
    admin_client.post(reverse("admin:knowledge_delivery_changelist"), chosen)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == (DeliveryState.QUEUED, 0)
    assert sent_deliveries() == [str(delivery_id)]


def test_deleting_a_webhook_says_what_goes_with_it(admin_client: Client, webhook: Webhook) -> None:
    webhooks.announce_test(webhook)
    address = reverse("admin:knowledge_webhook_delete", args=[webhook.pk])
    assert "deleted with it: 1" in admin_client.get(address).content.decode()
    admin_client.post(address, {"post": "yes"})
    assert not Webhook.objects.exists()
    assert not Delivery.objects.exists()


@pytest.mark.parametrize("state", list(TransformState))
def test_an_items_summary_is_on_its_page(
    admin_client: Client, add: Add, state: TransformState
) -> None:
    item = add("Stone")
    Transform.objects.create(
        item=item,
        state=state,
        tldr="The gist.",
        key_points=["A point."],
        quotes=[{"text": "A quote.", "locator": {"char_span": [0, 8]}}],
        error="The reason." if state == TransformState.FAILED else "",
        model="claude",
        cost_usd="0.0123",
    )
    address = reverse("admin:knowledge_item_change", args=[item.pk])
    page = unescape(admin_client.get(address).content.decode())
    told = re.findall(r"The gist\.|• A point\.|“A quote\.”|The reason\.|waiting|queued", page)
    expected = {
        TransformState.DONE: {"The gist.", "• A point.", "“A quote.”"},
        TransformState.FAILED: {"The reason."},
    }
    assert expected.get(state, {str(state)}) <= set(told)
