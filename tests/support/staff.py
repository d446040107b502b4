"""Two people with staff rights, each with a row of every kind, and what is whose."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client

from knowledge.admin.base import ModelAdmin
from knowledge.models import Item
from tests.support.admin import furnish
from tests.support.admin_pages import whole_database
from tokens.models import Token

admin.autodiscover()

MINE, THEIRS = "Blackbird", "Nightjar"


@dataclass(frozen=True)
class Pair:
    """One who is signed in, and the other whose library they must not meet."""

    me: User
    client: Client
    them: User
    their_item: Item


def make_pair() -> Pair:
    """Both with every permission, and neither a superuser."""
    me, them = _staff("ada"), _staff(f"{THEIRS}-person")
    furnish(me, MINE)
    theirs = furnish(them, THEIRS)
    client = Client()
    client.force_login(me)
    return Pair(me, client, them, theirs)


def _staff(name: str) -> User:
    person = User.objects.create_user(name, is_staff=True)
    person.user_permissions.set(Permission.objects.all())
    return person


def name_of(model: type[Model]) -> str:
    return f"admin:{model._meta.app_label}_{model._meta.model_name}"


def owned_pages() -> Iterator[tuple[type[Model], ModelAdmin[Model]]]:
    for model, page in admin.site._registry.items():
        assert isinstance(page, ModelAdmin)
        if page.owner_path is not None:
            yield model, page


def rows_marked_theirs(person: User) -> list[str]:
    """Every row of the database that bears the other's mark or is theirs by its owner."""
    marks = (THEIRS, str(person.pk))
    tokens = [
        f"{token.pk} {token.state}" for token in Token.objects.filter(owner=person).order_by("pk")
    ]
    marked = [line for line in whole_database().splitlines() if marks[0] in line]
    counts = [
        f"{model._meta.label}: {page.rows_of(person, model._default_manager.all()).count()}"
        for model, page in owned_pages()
    ]
    return sorted([*tokens, *marked, *counts])
