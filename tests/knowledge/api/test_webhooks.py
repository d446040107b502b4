from collections.abc import Callable

import pytest

from knowledge.models import Folder, Webhook
from tests.support.library import Mint

ROUTE = "/api/v1/webhooks"
PUBLIC = "https://example.org/hook"


def test_a_webhook_is_made_listed_and_deleted_and_its_secret_shown_once(mint: Mint) -> None:
    client = mint().client
    made = client.post(ROUTE, {"url": PUBLIC, "events": ["item.ready"]}, format="json")
    assert made.status_code == 201
    body = made.json()
    assert (body["url"], body["events"], body["is_active"]) == (PUBLIC, ["item.ready"], True)
    assert body["secret"] == Webhook.objects.get().secret

    listed = client.get(ROUTE)
    assert [row["id"] for row in listed.json()["webhooks"]] == [body["id"]]
    assert "whsec_" not in listed.content.decode()

    assert client.delete(f"{ROUTE}/{body['id']}").status_code == 204
    assert client.delete(f"{ROUTE}/{body['id']}").status_code == 404
    assert client.get(ROUTE).json() == {"webhooks": []}


def test_without_events_it_is_told_of_every_one(mint: Mint) -> None:
    made = mint().client.post(ROUTE, {"url": PUBLIC}, format="json").json()
    assert made["events"] == ["item.ready", "item.failed", "item.suspected", "quota.near"]


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "url"),
        ({"url": "http://127.0.0.1/"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": PUBLIC, "events": ["item.eaten"]}, "events"),
        ({"url": PUBLIC, "events": []}, "events"),
        ({"url": PUBLIC, "secret": "mine"}, "secret"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field(
    mint: Mint, sent: dict[str, object], field: str
) -> None:
    answer = mint().client.post(ROUTE, sent, format="json")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_body")
    assert answer.json()["field"].startswith(field)
    assert not Webhook.objects.exists()


def test_a_token_that_does_not_see_all_is_denied(
    mint: Mint, folder: Callable[[str], Folder]
) -> None:
    for token in (mint(folder("A")), mint(write=False), mint(kb_only=True)):
        assert token.client.get(ROUTE).json()["error"] == "capability_denied"
        answer = token.client.post(ROUTE, {"url": PUBLIC}, format="json")
        assert answer.status_code == 403
