"""Undoing what a token did to folders."""

from django.db import IntegrityError, transaction

from knowledge.errors import NameTaken
from knowledge.ledger.changes import from_data
from knowledge.library import items as library
from knowledge.models import Folder
from knowledge.undo.base import SinceChanged, Undo, expect, insert, restore_filings


class _FolderUndo(Undo):
    """A change to a folder that is still there."""

    folder: Folder

    def check(self) -> None:
        self.folder = self.lock(Folder.objects.filter(owner_id=self.change.owner_id))
        expect(self.folder, self.after)


class RemoveCreatedFolder(_FolderUndo):
    def check(self) -> None:
        super().check()
        if self.folder.filings.exists():
            raise SinceChanged("There is something in it that stays.")
        if self.folder.tokens.exists():
            raise SinceChanged("A token was given it since.")

    def apply(self) -> None:
        library.delete_folder(self.owner, self.folder.pk)


class RenameFolderBack(_FolderUndo):
    def apply(self) -> None:
        try:
            library.rename_folder(self.owner, self.folder.pk, self.before["name"])
        except NameTaken:
            raise SinceChanged("Another folder has its old name now.") from None


class RestoreFolder(Undo):
    """Tokens do not reach it again: what a token reaches never grows."""

    def check(self) -> None:
        """Whether its name is free, the database tells when it is inserted."""

    def apply(self) -> None:
        try:
            with transaction.atomic():
                insert(from_data(Folder, self.before["folder"]))
        except IntegrityError:
            raise SinceChanged("Another folder has its name now.") from None
        restore_filings(self.before["filings"])
