"""Staff with each single permission, and with all: what they open, and what they never meet.

Everything is read from the admin site's registry, so a new page, button, action or field is walked
as soon as it is registered.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import pytest
from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.test import Client, RequestFactory
from django.urls import reverse

from knowledge.admin.base import ModelAdmin
from tests.support.staff import MINE, THEIRS, Pair, make_pair, name_of, rows_marked_theirs

ECHO = re.compile("with ID “[^”]*” doesn’t exist")
"""The address that was asked for, said again."""

Page = ModelAdmin[Model]


class Call(NamedTuple):
    method: str
    address: str
    data: dict[str, Any]
    must_fail: bool = False


@pytest.fixture
def pair(db: None, monkeypatch: pytest.MonkeyPatch) -> Pair:
    # Most answers are refusals, and the page that says so costs more than all the rest of them.
    def refuse(request: HttpRequest, exception: Exception) -> HttpResponse:
        return HttpResponseForbidden()

    monkeypatch.setattr("config.urls.handler403", refuse, raising=False)
    return make_pair()


def pages() -> Iterator[tuple[type[Model], Page]]:
    for model, page in admin.site._registry.items():
        assert isinstance(page, ModelAdmin), page
        yield model, page


def a_row_of(person: User, model: type[Model], page: Page) -> Model:
    """One of theirs; on a page for superusers alone, whichever there is."""
    rows = model._default_manager.all()
    row = (page.rows_of(person, rows) if page.owner_path else rows).first()
    assert row is not None, model
    return row


def addresses_of(page: Page, row: Model) -> Iterator[tuple[str, bool]]:
    """Every address of a page, and whether it is about the row."""
    for pattern in page.get_urls():
        if pattern.name:
            is_about_it = "<" in str(pattern.pattern)
            yield (
                reverse(f"admin:{pattern.name}", args=[row.pk] if is_about_it else []),
                is_about_it,
            )


def calls_about_theirs(pair: Pair, model: type[Model], page: Page) -> Iterator[Call]:
    """Their row by every address and action, and every form in their name."""
    row = a_row_of(pair.them, model, page)
    form = {"post": "yes", "confirmed": "yes", "owner": pair.them.pk, "name": MINE, "title": MINE}
    for address, is_about_it in addresses_of(page, row):
        if is_about_it:
            yield Call("GET", address, {}, must_fail=True)
        yield Call("POST", address, form, must_fail=is_about_it)
    chosen = {"_selected_action": [str(row.pk)], "post": "yes", "confirmed": "yes"}
    for action in (*(page.actions or ()), "delete_selected"):
        yield Call("POST", reverse(f"{name_of(model)}_changelist"), {"action": action, **chosen})


def calls_about_mine(pair: Pair, model: type[Model], page: Page) -> Iterator[Call]:
    """One's own row by every address, and lists, forms and boards."""
    for address, _ in addresses_of(page, a_row_of(pair.me, model, page)):
        yield Call("GET", address, {})


def faults_of(pair: Pair, calls: Iterable[Call]) -> Iterator[str]:
    for call in calls:
        answer = getattr(pair.client, call.method.lower())(call.address, call.data)
        allowed = (302, 403, 404, 405) if call.must_fail else (200, 302, 400, 403, 404, 405)
        if answer.status_code not in allowed:
            yield f"{call.method} {call.address} answers {answer.status_code}"
        if THEIRS in ECHO.sub("", answer.content.decode()):
            yield f"{call.method} {call.address} tells of theirs"


def test_no_permission_leads_to_anything_of_the_others(pair: Pair) -> None:
    """One staff user per permission, over every page, button, action and form of its model."""
    before, people = rows_marked_theirs(pair.them), people_as_they_are(pair.me)
    found = []
    for model, page in pages():
        labels = {"content_type__app_label": model._meta.app_label}
        permissions = Permission.objects.filter(
            **labels, content_type__model=model._meta.model_name
        )
        assert len(permissions) >= 4, model
        for permission in permissions:
            pair.me.user_permissions.set([permission])
            theirs, mine = (
                calls_of(pair, model, page) for calls_of in (calls_about_theirs, calls_about_mine)
            )
            found += [f"{permission}: {fault}" for fault in faults_of(pair, chain(theirs, mine))]
    assert found == []
    assert people_as_they_are(pair.me) == people
    assert set(rows_marked_theirs(pair.them)) ^ set(before) == set()


def people_as_they_are(me: User) -> list[Any]:
    """Who may what: accounts, rights and organizations, but for what this test grants."""
    accounts = User.objects.order_by("pk").values_list("pk", "username", "password")
    rights = User.objects.order_by("pk").values_list("is_staff", "is_superuser", "is_active")
    members = Group.objects.order_by("pk").values_list("pk", "name", "user", "permissions")
    granted = User.user_permissions.through.objects.exclude(user=me).values_list("pk")
    return [list(accounts), list(rights), list(members), list(granted)]


def test_a_permission_opens_the_pages_of_its_own_model_and_no_others(pair: Pair) -> None:
    """Without a request, as the pages themselves decide; by groups as by the person."""
    request = RequestFactory().get("/admin/")
    opened: dict[str, set[str]] = {}
    everything = Permission.objects.select_related("content_type")
    for permission in everything:
        label = f"{permission.content_type.app_label}.{permission.content_type.model}"
        person = User.objects.get(pk=pair.me.pk)
        person._perm_cache = {f"{label.partition('.')[0]}.{permission.codename}"}  # type: ignore[attr-defined]
        person._user_perm_cache = person._group_perm_cache = set()  # type: ignore[attr-defined]
        request.user = person
        for model, page in pages():
            may = (page.has_view_permission, page.has_change_permission, page.has_delete_permission)
            if page.has_add_permission(request) or any(each(request) for each in may):
                opened.setdefault(model._meta.label_lower, set()).add(label)
    alone = {model._meta.label_lower for model, page in pages() if page.owner_path is None}
    assert opened.keys() & alone == set()
    assert {label: by for label, by in opened.items() if by != {label}} == {}


def test_with_every_permission_no_page_list_or_choice_tells_of_the_others(pair: Pair) -> None:
    before, people = rows_marked_theirs(pair.them), people_as_they_are(pair.me)
    found: list[str] = []
    for model, page in pages():
        for calls_of in (calls_about_theirs, calls_about_mine, lists_narrowed):
            found += faults_of(pair, calls_of(pair, model, page))
        found += foreign_choices(pair, model, page)
        found += foreign_suggestions(pair, model, page)
    whole = [Call("GET", address, {"s": MINE}) for address in ("/admin/", "/admin/search/")]
    found += faults_of(pair, whole)
    assert found == []
    assert people_as_they_are(pair.me) == people
    assert set(rows_marked_theirs(pair.them)) ^ set(before) == set()


def lists_narrowed(pair: Pair, model: type[Model], page: Page) -> Iterator[Call]:
    """By ids and by their owner; words that are looked for are said again by the page."""
    address, row = reverse(f"{name_of(model)}_changelist"), a_row_of(pair.them, model, page)
    if page.owner_path:
        yield Call("GET", address, {"id__exact": str(row.pk)})
        yield Call("GET", address, {f"{page.owner_path}__id__exact": str(pair.them.pk)})


def foreign_choices(pair: Pair, model: type[Model], page: Page) -> Iterator[str]:
    """Their rows among what a field of a form offers."""
    request = RequestFactory().get("/admin/")
    request.user = User.objects.get(pk=pair.me.pk)
    for row in (None, a_row_of(pair.me, model, page)):
        may = page.has_change_permission if row else page.has_add_permission
        if not may(request):
            continue
        form = page.get_form(request, row, change=row is not None)
        for name, field in form.base_fields.items():
            offered = field.queryset if isinstance(field, forms.ModelChoiceField) else None
            if offered is not None and THEIRS in " ".join(map(str, offered)):
                yield f"{model._meta.label}: {name} offers theirs"


def foreign_suggestions(pair: Pair, model: type[Model], page: Page) -> Iterator[str]:
    """Their rows among what is suggested while one types, for any field that leads to a row."""
    for field in model._meta.get_fields():
        if field.is_relation and not field.auto_created:
            typed: dict[str, Any] = {
                "app_label": model._meta.app_label,
                "model_name": model._meta.model_name,
                "field_name": field.name,
                "term": THEIRS,
            }
            answer = pair.client.get(reverse("admin:autocomplete"), typed)
            if answer.status_code != 403 and answer.json()["results"]:
                yield f"{model._meta.label}: {field.name} suggests theirs"


def test_no_list_finds_theirs_by_words(pair: Pair) -> None:
    for model, page in pages():
        if page.owner_path and page.search_fields:
            address = reverse(f"{name_of(model)}_changelist")
            found = pair.client.get(address, {"q": THEIRS}).context["cl"].queryset
            assert not found.exists(), model


def test_the_walk_finds_what_a_superuser_is_told(pair: Pair) -> None:
    """The same walk by somebody who may: where it finds nothing then, it proves nothing."""
    boss = Client()
    boss.force_login(User.objects.create_superuser("boss"))
    as_boss = Pair(pair.me, boss, pair.them, pair.their_item)
    silent = set()
    for model, page in pages():
        looks = [call for call in calls_about_theirs(pair, model, page) if call.method == "GET"]
        if not any("tells of theirs" in fault for fault in faults_of(as_boss, looks)):
            silent.add(model._meta.label)
    assert silent <= {page.model._meta.label for _, page in pages() if page.owner_path is None}
