"""Links, what becomes of them, and the minutes that they cost, as the operator sees them."""

from html import unescape
from typing import Any

import dramatiq
import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from dramatiq.brokers.stub import StubBroker
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.errors import IngestFailed
from knowledge.ingest.adding import add_to_knowledge
from knowledge.ingest.contents import save_failure
from knowledge.ledger import quotas
from knowledge.models import (
    Allowance,
    Content,
    ContentState,
    Item,
    Reservation,
    Tier,
    TranscriptionStatus,
    Usage,
)
from tests.support.admin import make_staff
from tests.support.library import Add
from tests.support.pages import ARTICLE, serve_page

ADD = "admin:knowledge_item_add"


@pytest.fixture
def site(httpserver: HTTPServer, settings: Settings) -> HTTPServer:
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{httpserver.host}:{httpserver.port}"]
    return httpserver


def recording_at(site: HTTPServer, path: str = "/talk.mp3") -> str:
    site.expect_request(path).respond_with_data(b"ID3" + bytes(500), content_type="audio/mpeg")
    return str(site.url_for(path))


@pytest.fixture
def failed(site: HTTPServer, library: Access) -> Item:
    """A recording whose transcription came to nothing."""
    item = add_to_knowledge(library, kind="url", url=recording_at(site)).item
    save_failure(item.content_id, IngestFailed("Nobody speaks in it.", reason="no_speech"))
    broker = dramatiq.get_broker()
    broker.flush_all()
    return item


def jobs() -> list[str]:
    broker = dramatiq.get_broker()
    assert isinstance(broker, StubBroker)
    return [
        dramatiq.Message.decode(data).actor_name
        for queue in broker.queues.values()
        for data in queue.queue
    ]


def added(client: Client, owner: User, **form: Any) -> str:
    answer = client.post(reverse(ADD), {"owner": owner.pk, "in_kb": "on", **form}, follow=True)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def page_of(client: Client, address: str, *args: object, **query: str) -> str:
    answer = client.get(reverse(address, args=args), query)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


# Adding a link ---------------------------------------------------------------------------


def test_a_link_to_a_page_is_ready_when_the_form_comes_back(
    admin_client: Client, owner: User, site: HTTPServer
) -> None:
    page = added(admin_client, owner, url=serve_page(site, "/rivers", ARTICLE), tags="stone")
    assert "It is ready" in page
    item = Item.objects.get()
    assert (item.title, item.tags, item.owner) == ("How rivers carve stone", ["stone"], owner)
    assert item.index_status == "done"


def test_a_link_to_a_recording_is_said_to_be_transcribed(
    admin_client: Client, owner: User, site: HTTPServer
) -> None:
    assert "It is being transcribed" in added(admin_client, owner, url=recording_at(site))
    assert Item.objects.get().status == "transcribing"
    assert jobs() == ["transcribe_content"]


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ({"url": "http://10.0.0.1/"}, "private or special address"),
        ({"url": "rivers"}, "http"),
        ({"url": "https://example.org/", "title": "T", "text": "x" * 30}, "not both"),
        ({}, "Enter either a link or a text"),
        ({"text": "x" * 30}, "A text needs a title"),
    ],
)
def test_what_cannot_be_added_comes_back_with_the_reason(
    admin_client: Client, owner: User, form: dict[str, str], complaint: str
) -> None:
    page = added(admin_client, owner, **form)
    assert complaint in page
    assert all(value in page for value in form.values())
    assert not Item.objects.exists()


def test_a_summary_that_no_model_can_make_is_told_beside_the_item(
    admin_client: Client, owner: User, settings: Settings
) -> None:
    settings.QUARRY_SUMMARIZER = "claude"
    page = added(admin_client, owner, title="Note", text="x" * 30, auto_transform="on")
    assert "It is ready" in page
    assert "ANTHROPIC_API_KEY" in page


# Another try -----------------------------------------------------------------------------


@pytest.mark.parametrize("noun", ["content", "item"])
def test_what_failed_says_why_and_is_tried_again_by_a_button_that_asks_first(
    admin_client: Client, failed: Item, noun: str
) -> None:
    row = failed.content_id if noun == "content" else failed.pk
    page = page_of(admin_client, f"admin:knowledge_{noun}_change", row)
    again = reverse(f"admin:knowledge_{noun}_retry", args=[row])
    assert "Nobody speaks in it." in page
    assert f'href="{again}"' in page
    assert "no_speech" in unescape(admin_client.get(again).content.decode())
    assert jobs() == []
    page = unescape(admin_client.post(again, follow=True).content.decode())
    assert "One item is being tried again." in page
    assert f'href="{again}"' not in page
    assert Content.objects.get().state == ContentState.QUEUED
    assert jobs() == ["transcribe_content"]


@pytest.mark.parametrize("noun", ["content", "item"])
def test_several_are_tried_again_and_those_refused_are_named(
    admin_client: Client, failed: Item, add: Add, noun: str
) -> None:
    fine = add("Fine as it is")
    rows = [each.content_id if noun == "content" else each.pk for each in (failed, fine)]
    chosen = {"action": "retry_selected", "_selected_action": rows}
    answer = admin_client.post(reverse(f"admin:knowledge_{noun}_changelist"), chosen, follow=True)
    page = unescape(answer.content.decode())
    assert "One item is being tried again." in page
    assert "Fine as it is: Nothing about this item has failed" in page


def test_another_try_that_the_quota_does_not_allow_is_refused_in_a_message(
    admin_client: Client, failed: Item
) -> None:
    Content.objects.update(duration_sec=600)
    Tier.objects.create(name="Small", minutes_per_month=5, is_default=True)
    again = reverse("admin:knowledge_content_retry", args=[failed.content_id])
    answer = admin_client.post(again)
    [message] = [str(each) for each in get_messages(answer.wsgi_request)]
    assert "5 a month of the tier Small" in message
    assert Content.objects.get().state == ContentState.FAILED


def test_a_content_that_nobody_has_is_not_tried_again(admin_client: Client, failed: Item) -> None:
    failed.delete()
    again = reverse("admin:knowledge_content_retry", args=[failed.content_id])
    answer = admin_client.post(again)
    assert "Nobody has an item with this content any more" in next(
        str(m) for m in get_messages(answer.wsgi_request)
    )


def test_who_may_only_look_is_offered_no_other_try(
    client: Client, owner: User, failed: Item
) -> None:
    viewer = make_staff(owner, "view_content", "view_item")
    client.force_login(viewer)
    again = reverse("admin:knowledge_content_retry", args=[failed.content_id])
    page = page_of(client, "admin:knowledge_content_change", failed.content_id)
    assert again not in page
    assert client.post(again).status_code == 403
    assert Content.objects.get().state == ContentState.FAILED


# Progress --------------------------------------------------------------------------------


def test_contents_show_how_far_they_are_and_are_filtered_by_it(
    admin_client: Client, failed: Item, site: HTTPServer, library: Access
) -> None:
    item = add_to_knowledge(library, kind="url", url=recording_at(site, "/other.mp3")).item
    Content.objects.filter(pk=item.content_id).update(
        state=ContentState.WORKING,
        step="transcribe",
        percent=40,
        rung="gladia",
        cost_usd="0.0610",
        duration_sec=366,
        transcription_status=TranscriptionStatus.TRANSCRIBING,
    )
    listing = page_of(admin_client, "admin:knowledge_content_changelist", state__exact="working")
    assert "transcribe 40 %" in listing
    assert "no_speech" not in listing
    page = page_of(admin_client, "admin:knowledge_content_change", item.content_id)
    assert "('working'" not in page
    for told in ("transcribe 40 %", "6.1 minutes", "gladia", "$0.0610", "/other.mp3"):
        assert told in page
    link = f"{reverse('admin:knowledge_item_changelist')}?content__id__exact={item.content_id}"
    assert f'href="{link}"' in page
    assert list(admin_client.get(link).context["cl"].queryset) == [item]
    assert "transcribe 40 %" in page_of(admin_client, "admin:knowledge_item_changelist")


def test_the_first_page_counts_what_is_at_work_and_what_has_failed_and_leads_there(
    admin_client: Client, failed: Item, site: HTTPServer, library: Access
) -> None:
    busy = add_to_knowledge(library, kind="url", url=recording_at(site, "/other.mp3")).item
    page = admin_client.get(reverse("admin:index")).context
    figures = [*page["figures"][2:3], *page["failures"]]
    listed = {
        figure.name: [row.pk for row in admin_client.get(figure.link).context["cl"].queryset]
        for figure in figures
    }
    assert listed == {
        "Contents in progress": [busy.content_id],
        "Contents": [failed.content_id],
        "Indexing": [failed.pk],
        **{kind: [] for kind in ("Summaries", "Crawls", "Webhooks", "Jobs")},
    }
    assert {figure.name: figure.count for figure in figures} == {
        name: str(len(rows)) for name, rows in listed.items()
    }


# Tiers -----------------------------------------------------------------------------------


def test_a_tier_is_made_and_given_to_a_person(admin_client: Client, owner: User) -> None:
    form = {"name": "Small", "minutes_per_month": "90"}
    admin_client.post(reverse("admin:knowledge_tier_add"), form)
    tier = Tier.objects.get()
    person = reverse("admin:auth_user_change", args=[owner.pk])
    form = {"username": owner.username, "is_active": "on", "tier": str(tier.pk)}
    assert admin_client.post(person, form).status_code == 302
    assert Allowance.objects.get().owner == owner
    assert quotas.quota_of(owner.pk).cap_per_month == 90
    page = page_of(admin_client, "admin:auth_user_changelist")
    assert "Small" in page
    assert "0.0 of 90" in page
    assert "1 person" in page_of(admin_client, "admin:knowledge_tier_changelist")
    admin_client.post(person, {**form, "tier": ""})
    assert quotas.quota_of(owner.pk).cap_per_month is None


def test_there_is_one_default_tier_and_it_holds_for_everybody_else(
    admin_client: Client, owner: User
) -> None:
    Tier.objects.create(name="Small", minutes_per_month=5, is_default=True)
    form = {"name": "Large", "is_default": "on"}
    page = admin_client.post(reverse("admin:knowledge_tier_add"), form).content.decode()
    assert "Another tier is the default already." in page
    assert "0.0 of 5" in page_of(admin_client, "admin:auth_user_change", owner.pk)


def test_a_tier_that_somebody_has_is_not_deleted(admin_client: Client, owner: User) -> None:
    tier = Tier.objects.create(name="Small")
    Allowance.objects.create(owner=owner, tier=tier)
    address = reverse("admin:knowledge_tier_delete", args=[tier.pk])
    assert admin_client.post(address, {"post": "yes"}).status_code in (200, 403)
    assert Tier.objects.exists()


def test_minutes_set_aside_and_used_are_on_record(admin_client: Client, failed: Item) -> None:
    quotas.reserve(failed.owner_id, failed.content_id, 90)
    assert "1.5" in page_of(admin_client, "admin:knowledge_reservation_changelist")
    quotas.settle(failed.content_id)
    page = page_of(admin_client, "admin:knowledge_reservation_changelist", state__exact="settled")
    assert "1.5" in page
    assert reverse("admin:knowledge_content_change", args=[failed.content_id]) in page
    assert Usage.objects.get().transcription_sec_used == 90
    assert Reservation.objects.filter(state="settled").count() == 1
    assert "1.5, no cap" in page_of(admin_client, "admin:auth_user_change", failed.owner_id)
