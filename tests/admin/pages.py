"""Every page of the admin, and every row of the database, as text."""

from collections.abc import Iterator

from django.contrib import admin
from django.db import connection
from django.test import Client
from django.urls import reverse


def addresses() -> Iterator[str]:
    """Lists, forms and the pages of each row, of every registered model."""
    yield reverse("admin:index")
    for model, model_admin in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist")
        yield reverse(f"{name}_add")
        for row in model._default_manager.all():
            yield reverse(f"{name}_change", args=[row.pk])
            yield reverse(f"{name}_history", args=[row.pk])
            yield reverse(f"{name}_delete", args=[row.pk])
        yield from _actions(model_admin, name)


def _actions(model_admin: object, name: str) -> Iterator[str]:
    for action in getattr(model_admin, "actions_detail", ()):
        for row in model_admin.model._default_manager.all():  # type: ignore[attr-defined]
            yield reverse(f"{name}_{action}", args=[row.pk])


def read_all(client: Client) -> dict[str, str]:
    """Every page that opens; one that is not offered must be refused, and not fail."""
    pages = {}
    for address in addresses():
        answer = client.get(address, follow=True)
        assert answer.status_code in (200, 403), address
        if answer.status_code == 200:
            pages[address] = answer.content.decode()
    return pages


def whole_database() -> str:
    with connection.cursor() as cursor:
        lines = []
        for table in connection.introspection.table_names(cursor):
            quoted = connection.ops.quote_name(table)
            cursor.execute(f"SELECT row_of::text FROM {quoted} AS row_of")
            lines += [row[0] for row in cursor.fetchall()]
    return "\n".join(lines)
