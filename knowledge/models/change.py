from django.conf import settings
from django.db import models


class ChangeKind(models.TextChoices):
    ITEM_ADDED = "item_added"
    ITEM_CHANGED = "item_changed"
    ITEM_REWRITTEN = "item_rewritten"
    ITEM_DELETED = "item_deleted"
    ITEM_FILED = "item_filed"
    ITEM_UNFILED = "item_unfiled"
    FOLDER_CREATED = "folder_created"
    FOLDER_RENAMED = "folder_renamed"
    FOLDER_DELETED = "folder_deleted"
    WEBHOOK_CREATED = "webhook_created"
    WEBHOOK_CHANGED = "webhook_changed"
    WEBHOOK_DELETED = "webhook_deleted"
    ROW_ADDED = "row_added"
    ROW_CHANGED = "row_changed"
    ROW_DELETED = "row_deleted"


class Change(models.Model):
    """One thing a token wrote, with all it takes to revert that; kept while it can be undone.

    For deleted rows, this is the only copy.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    token_id = models.UUIDField()
    kind = models.CharField(max_length=20, choices=ChangeKind)
    target = models.UUIDField(help_text="The item, folder, webhook or other row.")
    title = models.CharField(max_length=2000, help_text="What it was called.")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        # Ids are in the order of the changes: a change gets its id while its row is locked.
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["owner", "token_id", "at"], name="change_by_token"),
            models.Index(fields=["at"], name="change_oldest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')}: {self.title}"
