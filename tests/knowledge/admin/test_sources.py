"""Documentation sources, as the operator sees them."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from knowledge.models import Source
from tests.support.admin_pages import jobs, page_of, queries, sent
from tests.support.library import Add


@pytest.fixture
def source(owner: User) -> Source:
    """A crawl that is at three of its four pages, and knows of one that failed."""
    source = Source.objects.create(
        owner=owner, name="Docs", start_url="https://docs.example/", state="crawling", crawl=1
    )
    for number, state in enumerate(("kept", "kept", "failed", "queued")):
        source.pages.create(
            key=str(number),
            url=f"https://docs.example/{number}",
            state=state,
            seen_in=0 if state == "queued" else 1,
            reason="unreachable" if state == "failed" else "",
        )
    return source


def test_sources_tell_how_far_they_are(admin_client: Client, source: Source) -> None:
    page = page_of(admin_client, "admin:knowledge_source_changelist")
    assert "crawling 75 %" in page
    assert 'max="100" value="75"' in page
    assert "2 / 4" in page


def test_a_source_at_work_is_looked_at_again_and_not_changed(
    admin_client: Client, source: Source
) -> None:
    address = reverse("admin:knowledge_source_change", args=[source.pk])
    answer = admin_client.get(address)
    assert answer.headers["Refresh"] == "5"
    assert b'name="name"' not in answer.content
    assert admin_client.post(address, {"name": "Mine"}).status_code == 403
    Source.objects.update(state="done")
    answer = admin_client.get(address)
    assert "Refresh" not in answer.headers
    assert b'name="name"' in answer.content


def test_pages_are_told_with_their_state_and_reason_a_few_at_a_time(
    admin_client: Client, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = "admin:knowledge_source_change"
    page = page_of(admin_client, change, source.pk, state="failed")
    assert "https://docs.example/2" in page
    assert "unreachable" in page
    assert "https://docs.example/1<" not in page
    monkeypatch.setattr("knowledge.admin.documentation.PAGES_SHOWN", 3)
    assert "1 to 3 of 4" in page_of(admin_client, change, source.pk)
    assert "4 to 4 of 4" in page_of(admin_client, change, source.pk, page=2)
    assert "4 to 4 of 4" in page_of(admin_client, change, source.pk, page=99)


def test_pages_with_items_take_as_many_queries_as_without(
    admin_client: Client, source: Source, add: Add
) -> None:
    before = queries(admin_client, "admin:knowledge_source_change", source.pk)
    for page in source.pages.all():
        page.item = add(page.url)
        page.save()
    assert queries(admin_client, "admin:knowledge_source_change", source.pk) == before


def test_a_source_is_added_changed_and_crawled_by_the_asks(
    admin_client: Client, owner: User
) -> None:
    form = {"name": "Docs", "include": "/docs/*\n/api/*", "depth": 2, "max_pages": 10}
    new = {**form, "owner": owner.pk, "start_url": "https://docs.example/"}
    sent(admin_client, "admin:knowledge_source_add", **new)
    source = Source.objects.get()
    assert (source.include, source.depth, source.state) == (["/docs/*", "/api/*"], 2, "queued")
    assert len(jobs()) == 1
    Source.objects.update(state="done")
    form |= {"name": "Manual", "include": ""}
    sent(admin_client, "admin:knowledge_source_change", source.pk, **form)
    source.refresh_from_db()
    assert (source.name, source.include) == ("Manual", [])
    page = sent(admin_client, "admin:knowledge_source_crawl", source.pk)
    assert "Manual is being crawled." in page
    source.refresh_from_db()
    assert source.state == "queued"
    assert len(jobs()) == 2


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"start_url": "rivers"}, "http"),
        ({"include": "docs"}, "must begin with / or *"),
        ({"depth": 9}, "less than or equal to 5"),
    ],
)
def test_a_source_that_cannot_be_crawled_comes_back_with_the_reason(
    admin_client: Client, owner: User, wrong: dict[str, Any], complaint: str
) -> None:
    form = {"owner": owner.pk, "name": "Docs", "start_url": "https://docs.example/"}
    form |= {"depth": 2, "max_pages": 10, **wrong}
    assert complaint in sent(admin_client, "admin:knowledge_source_add", **form)
    assert not Source.objects.exists()
    assert jobs() == []
