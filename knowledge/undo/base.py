"""What every undo is: the one object that takes one change of a token back."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model, QuerySet

from knowledge.access import Access
from knowledge.ledger.changes import M, from_data, values_of
from knowledge.models import Change, Filing, Folder, Item


class SinceChanged(Exception):
    """The row has changed since; the message says how."""


class Undo(ABC):
    """One change that is to be taken back, while everything is still as that change left it.

    First `prepare`; then, within one transaction, `check` and either `apply` or `rehearse`.
    """

    def __init__(self, change: Change) -> None:
        self.change = change
        self.before: dict[str, Any] = change.before
        self.after: dict[str, Any] = change.after
        self.owner = Access.whole_library(change.owner_id)

    def prepare(self) -> None:  # noqa: B027 (most have nothing to prepare)
        """Do the slow work, before any row is locked."""

    @abstractmethod
    def check(self) -> None:
        """Lock what the change left, and raise SinceChanged if it is not so any more."""

    @abstractmethod
    def apply(self) -> None:
        """Bring back what was before; raises SinceChanged where only the database can tell."""

    def rehearse(self) -> None:
        """Do as much of `apply` as the checks of older changes need to see.

        It may leave rows that do not fit together: the caller rolls it back.
        """
        self.apply()

    def lock(self, rows: QuerySet[M]) -> M:
        """The row that was changed."""
        row = rows.filter(pk=self.change.target).select_for_update(of=("self",)).first()
        if row is None:
            raise SinceChanged("It is deleted already.")
        return row


def expect(row: Model, left: Mapping[str, Any]) -> None:
    if values_of(row, left) != left:
        raise SinceChanged("It was changed by somebody else since.")


def insert(row: M) -> M:
    """Write a row as it was, with its own id and times."""
    row.save_base(raw=True, force_insert=True)
    return row


def restore_filings(rows: Iterable[Mapping[str, Any]]) -> None:
    """Filings whose item and folder both exist; the others are dropped."""
    filings = [from_data(Filing, row) for row in rows]
    folders = Folder.objects.filter(pk__in={filing.folder_id for filing in filings})
    items = Item.objects.filter(pk__in={filing.item_id for filing in filings})
    locked = items.order_by("pk").select_for_update(of=("self",))
    there = {*folders.values_list("pk", flat=True), *locked.values_list("pk", flat=True)}
    for filing in filings:
        if {filing.folder_id, filing.item_id} <= there:
            insert(filing)
