from __future__ import annotations

from collections.abc import Collection
from typing import Self
from uuid import UUID, uuid4

from django.conf import settings
from django.db import models
from django.db.models import Count, Max, Q

from knowledge.access import Access
from knowledge.errors import OutOfScope
from knowledge.models.key_locks import lock_keys
from knowledge.models.naming import unique_name


class FolderQuerySet(models.QuerySet["Folder"]):
    def visible_to(self, access: Access) -> Self:
        """Only folders this caller may know exist."""
        folders = self.filter(owner_id=access.owner_id)
        if access.folder_ids is None:
            return folders
        return folders.filter(pk__in=access.folder_ids)

    def with_counts_for(self, access: Access) -> Self:
        """Load, beside each folder, how many items the caller sees in it, and since when."""
        # Imported here: an item is in folders, and knows them.
        from knowledge.models.item import Item

        seen = Q(filings__item__in=Item.objects.visible_to(access))
        return self.annotate(
            item_count=Count("filings", filter=seen),
            last_added_at=Max("filings__filed_at", filter=seen),
        )

    def lock_all_of(self, folder_ids: Collection[UUID]) -> list[Folder]:
        """These folders, none of which can be deleted before the caller's transaction ends."""
        lock_keys(self.model, folder_ids)
        return self.all_of(folder_ids)

    def all_of(self, folder_ids: Collection[UUID]) -> list[Folder]:
        """The folders of these ids; one that is missing here refuses the ask."""
        folders = list(self.filter(pk__in=folder_ids))
        if missing := set(folder_ids) - {folder.pk for folder in folders}:
            raise OutOfScope(missing)
        return folders


class Folder(models.Model):
    """A named shelf of one owner's library; what a scoped token reaches is a list of these."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="folders"
    )
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FolderQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [unique_name("folder")]

    def __str__(self) -> str:
        return self.name
