"""Two people with staff rights and every permission: neither meets anything of the other's."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from knowledge.access import Access
from knowledge.admin.base import ModelAdmin
from knowledge.library.items import create_folder
from knowledge.models import Content, Folder, Item, Memory, Relation, Source, Webhook
from tests.support.staff import (
    MINE,
    THEIRS,
    Pair,
    make_pair,
    name_of,
    owned_pages,
    rows_marked_theirs,
)
from tokens.models import Token
from tokens.single_use import new_form_id

SUPERUSERS_ONLY = {
    *("knowledge.agent", "knowledge.generation", "knowledge.job", "knowledge.tier"),
    "knowledge.allowedfinding",
    *("auth.user", "auth.group", "accounts.invitation"),
}


@pytest.fixture
def pair(db: None) -> Pair:
    return make_pair()


def test_every_page_is_of_ones_own_rows_or_for_superusers_alone() -> None:
    for page in admin.site._registry.values():
        assert isinstance(page, ModelAdmin), page
    alone = {
        page.opts.label_lower
        for page in admin.site._registry.values()
        if isinstance(page, ModelAdmin) and page.owner_path is None
    }
    assert alone == SUPERUSERS_ONLY


def test_ones_own_rows_are_all_there(pair: Pair) -> None:
    for model, page in owned_pages():
        answer = pair.client.get(reverse(f"{name_of(model)}_changelist"))
        listed = set(answer.context["cl"].queryset.values_list("pk", flat=True))
        own = page.rows_of(pair.me, model._default_manager.all())
        assert listed == set(own.values_list("pk", flat=True)) != set(), model


def test_nothing_is_minted_or_made_in_the_others_name(pair: Pair) -> None:
    before = rows_marked_theirs(pair.them)
    their_folder = Folder.objects.get(owner=pair.them)
    forms: dict[Any, dict[str, Any]] = {
        Token: {
            "name": "Loot",
            "reach": "library",
            "toolsets": ["library"],
            "expires_days": 9,
            "form_id": new_form_id(),
        },
        Folder: {"name": "Loot"},
        Item: {"title": "Loot", "text": "Loot. " * 30},
        Memory: {"title": "Loot", "content": "Loot. " * 30, "entity_type": "episode"},
        Source: {"start_url": "https://loot.example/", "name": "Loot"},
        Webhook: {"url": "https://loot.example/", "events": ["item.ready"]},
    }
    for model, form in forms.items():
        answer = pair.client.post(
            reverse(f"{name_of(model)}_add"), {**form, "owner": str(pair.them.pk)}
        )
        assert answer.status_code == 200, model
        assert "Select a valid choice" in answer.content.decode(), model
    own = {**forms[Token], "owner": str(pair.me.pk), "form_id": new_form_id()}
    scoped = {**own, "reach": "folders", "folder_ids": [str(their_folder.pk)]}
    assert pair.client.post(reverse("admin:tokens_token_add"), scoped).status_code == 200
    assert rows_marked_theirs(pair.them) == before
    assert not Token.objects.filter(name="Loot").exists()
    pair.client.post(reverse("admin:tokens_token_add"), own)
    assert Token.objects.get(name="Loot").owner == pair.me


def test_the_others_items_cannot_be_related_or_be_chosen_by_typing(pair: Pair) -> None:
    mine = Item.objects.filter(owner=pair.me).first()
    assert mine is not None
    form = {"source": mine.pk, "target": pair.their_item.pk, "type": "related_to", "weight": 1}
    answer = pair.client.post(reverse("admin:knowledge_relation_add"), form)
    assert "Select a valid choice" in answer.content.decode()
    assert not Relation.objects.filter(target=pair.their_item, owner=pair.me).exists()
    typed = {
        "app_label": "knowledge",
        "model_name": "relation",
        "field_name": "target",
        "term": THEIRS,
    }
    assert pair.client.get(reverse("admin:autocomplete"), typed).json()["results"] == []
    own = pair.client.get(reverse("admin:autocomplete"), {**typed, "term": MINE}).json()
    assert own["results"] != []


def test_a_task_of_the_others_is_not_on_the_board_and_does_not_move(pair: Pair) -> None:
    task = Memory.objects.get(owner=pair.them, type="task")
    board = reverse("admin:knowledge_memory_board")
    for query in ({}, {"owner": pair.them.pk}, {"project": task.attributes["project"]}):
        assert THEIRS not in pair.client.get(board, query).content.decode()
    answer = pair.client.post(board, {"task": task.pk, "stood": "doing", "to": "done"}, follow=True)
    assert "The task no longer exists." in answer.content.decode()
    task.refresh_from_db()
    assert task.attributes["status"] == "doing"


def test_a_shared_content_names_nobody_else_and_is_tried_again_in_ones_own_name(
    pair: Pair,
) -> None:
    shared = Content.objects.create(
        title="Public page",
        canonical_url="https://public.example/",
        url="https://public.example/",
        state="failed",
        kind="article",
    )
    shared.links.create(key=f"https://public.example/?secret={THEIRS}")
    for owner in (pair.them, pair.me):
        Item.objects.create(owner=owner, content=shared)
    page = pair.client.get(reverse("admin:knowledge_content_change", args=[shared.pk]))
    assert "Public page" in page.content.decode()
    assert THEIRS not in page.content.decode()
    assert page.context["original"].item_count == 1
    before = rows_marked_theirs(pair.them)
    pair.client.post(reverse("admin:knowledge_content_retry", args=[shared.pk]))
    assert rows_marked_theirs(pair.them) == before


def test_the_first_page_counts_ones_own_library_alone(pair: Pair) -> None:
    answer = pair.client.get(reverse("admin:index"))
    alone = {figure.name: figure.count for figure in answer.context["figures"]}
    assert alone["Items"] == str(Item.objects.filter(owner=pair.me).count())
    kinds = {figure.name for figure in answer.context["failures"]}
    assert kinds == {"Contents", "Indexing", "Summaries", "Crawls", "Webhooks"}
    assert "Your library" in answer.content.decode()
    cache.clear()
    boss = Client()
    boss.force_login(User.objects.create_superuser("boss"))
    everything = {f.name: f.count for f in boss.get(reverse("admin:index")).context["figures"]}
    assert everything["Items"] == str(Item.objects.count())


def test_nobody_makes_themselves_a_superuser_or_sets_anothers_password(pair: Pair) -> None:
    boss = User.objects.create_superuser("boss", password="unchanged")
    passwords = set(User.objects.values_list("pk", "password"))
    people = {"username": "x", "is_superuser": "on", "is_staff": "on", "is_active": "on"}
    for person in (pair.me, pair.them, boss):
        for view in ("auth_user_change", "auth_user_password_change", "auth_user_new_password"):
            address = reverse(f"admin:{view}", args=[person.pk])
            form = {**people, "password1": "Taken-over-9", "password2": "Taken-over-9"}
            assert pair.client.get(address).status_code in (302, 403), view
            assert pair.client.post(address, form).status_code in (302, 403), view
    assert pair.client.post(reverse("admin:auth_user_add"), people).status_code == 403
    group = Group.objects.create(name="Admins")
    group_form = {"name": "Admins", "members": [pair.me.pk]}
    address = reverse("admin:auth_group_change", args=[group.pk])
    assert pair.client.post(address, group_form).status_code == 403
    assert set(User.objects.values_list("pk", "password")) == passwords
    assert list(User.objects.filter(is_superuser=True)) == [boss]


def test_a_superuser_mints_and_reads_for_everybody(pair: Pair) -> None:
    boss = Client()
    boss.force_login(User.objects.create_superuser("boss"))
    assert THEIRS in boss.get(reverse("admin:knowledge_item_changelist")).content.decode()
    create_folder(Access.whole_library(pair.them.pk), "Loot")
    form = {
        "owner": pair.them.pk,
        "name": "For them",
        "reach": "library",
        "toolsets": ["library"],
        "expires_days": 9,
        "form_id": new_form_id(),
    }
    assert boss.post(reverse("admin:tokens_token_add"), form).status_code == 200
    assert Token.objects.get(name="For them").owner == pair.them
