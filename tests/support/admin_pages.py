"""Pages of the admin as their readers see them, and every row of the database, as text."""

from collections.abc import Iterator
from html import unescape
from typing import Any

import dramatiq
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from dramatiq.brokers.stub import StubBroker


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
    for action in getattr(model_admin, "actions_list", ()):
        yield reverse(f"{name}_{action}")
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


def page_of(client: Client, address: str, *args: object, **query: Any) -> str:
    answer = client.get(reverse(address, args=args), query)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def sent(client: Client, address: str, *args: object, **form: Any) -> str:
    """The page that a form leads to."""
    answer = client.post(reverse(address, args=args), form, follow=True)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def queries(client: Client, address: str, *args: object) -> int:
    """How many a page takes when it is not the first that this process makes."""
    page_of(client, address, *args)
    with CaptureQueriesContext(connection) as asked:
        page_of(client, address, *args)
    return len(asked)


def jobs() -> list[str]:
    """The actors of what waits for a worker."""
    broker = dramatiq.get_broker()
    assert isinstance(broker, StubBroker)
    messages = [data for queue in broker.queues.values() for data in queue.queue]
    return [dramatiq.Message.decode(data).actor_name for data in messages]
