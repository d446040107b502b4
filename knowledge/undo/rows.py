"""Undoing what a token did to webhooks, and to rows of any other model."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import Model

from knowledge.ledger.changes import as_data, from_data
from knowledge.models import Webhook
from knowledge.registry.undo_effects import lock_judged_item, recompute_scores
from knowledge.undo.base import SinceChanged, Undo, expect, insert


class _WebhookUndo(Undo):
    """A change to a webhook that is still there."""

    webhook: Webhook

    def check(self) -> None:
        self.webhook = self.lock(Webhook.objects.filter(owner_id=self.change.owner_id))
        expect(self.webhook, self.after)


class RemoveCreatedWebhook(_WebhookUndo):
    def apply(self) -> None:
        self.webhook.delete()


class SetWebhookBack(_WebhookUndo):
    def apply(self) -> None:
        Webhook.objects.filter(pk=self.webhook.pk).update(**self.before)


class RestoreWebhook(Undo):
    def check(self) -> None:
        """Nothing can have taken its place."""

    def apply(self) -> None:
        insert(from_data(Webhook, self.before["webhook"]))


class _RowUndo(Undo):
    """A change to a row that is still there; what scores were made of it is counted anew."""

    row: Model

    def check(self) -> None:
        # The item before its judgment, as whoever judges locks them: to avoid deadlock.
        lock_judged_item(self.change)
        self.row = self.lock(self.model._default_manager.all())
        _expect_data(self.row, self.after["row"])

    def apply(self) -> None:
        with recompute_scores(self.change):
            self.revert()

    def rehearse(self) -> None:
        self.revert()

    @abstractmethod
    def revert(self) -> None: ...

    @property
    def model(self) -> type[Model]:
        return apps.get_model(self.after.get("model") or self.before["model"])


class RemoveAddedRow(_RowUndo):
    def revert(self) -> None:
        self.row.delete()


class SetRowBack(_RowUndo):
    def revert(self) -> None:
        was = from_data(self.model, self.before["row"])
        values = {name: getattr(was, name) for name in self.before["row"]}
        try:
            with transaction.atomic():
                self.model._default_manager.filter(pk=self.row.pk).update(**values)
        except IntegrityError:
            raise SinceChanged("Another has taken its place since.") from None


class RestoreRow(Undo):
    def check(self) -> None:
        """Whether there is still a place for it, the database tells when it is inserted."""

    def apply(self) -> None:
        model = apps.get_model(self.before["model"])
        try:
            with transaction.atomic():
                insert(from_data(model, self.before["row"]))
                connection.check_constraints()
        except IntegrityError:
            raise SinceChanged("What it belongs to is gone, or another took its place.") from None


def _expect_data(row: Model, left: Mapping[str, Any]) -> None:
    data = as_data(row)
    if {name: data[name] for name in left if name in data} != dict(left):
        raise SinceChanged("It was changed by somebody else since.")
