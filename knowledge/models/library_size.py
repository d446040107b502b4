from django.conf import settings
from django.db import connection, models

_CHANGE = """
    INSERT INTO knowledge_librarysize AS size (owner_id, chunks) VALUES (%s, %s)
    ON CONFLICT (owner_id) DO UPDATE SET chunks = size.chunks + excluded.chunks
"""


class LibrarySizeManager(models.Manager["LibrarySize"]):
    def change(self, owner_id: int, chunks: int) -> None:
        """Count chunks in or out, in the transaction that writes or deletes them.

        Comes after the item's row is held, and last of all: it makes the owner's other
        writers wait.
        """
        if chunks:
            with connection.cursor() as cursor:
                cursor.execute(_CHANGE, [owner_id, chunks])


class LibrarySize(models.Model):
    """How many chunks an owner's whole library has; searches choose their plan by it."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    chunks = models.BigIntegerField(default=0)

    objects = LibrarySizeManager()

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.chunks}"
