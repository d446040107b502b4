from collections.abc import Collection

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from knowledge.models.prepared import send

_CHANGE = """
    INSERT INTO knowledge_librarysize AS size (owner_id, chunks, words, fresh, languages)
    VALUES (%s, %s, %s, %s, %s::varchar[])
    ON CONFLICT (owner_id) DO UPDATE SET
        chunks = size.chunks + excluded.chunks,
        words = size.words + excluded.words,
        fresh = size.fresh + excluded.fresh,
        languages = CASE WHEN excluded.languages <@ size.languages THEN size.languages
            ELSE ARRAY(SELECT DISTINCT unnest(size.languages || excluded.languages)) END
    RETURNING fresh
"""


class LibrarySizeManager(models.Manager["LibrarySize"]):
    def change(
        self,
        owner_id: int,
        *,
        chunks: int,
        words: int = 0,
        fresh: int = 0,
        languages: Collection[str] = (),
    ) -> int:
        """Count chunks and their words in or out, in the transaction that writes or deletes them.

        Answers how many chunks are fresh. Comes after the item's row is held, and last of all:
        it makes the owner's other writers wait.
        """
        if not (chunks or words or fresh):
            return 0
        kept = sorted({language.lower()[:2] for language in languages})
        [count] = send(_CHANGE, [owner_id, chunks, words, fresh, kept]) or (0,)
        return int(count)


class LibrarySize(models.Model):
    """What searches must know of a whole library before they begin."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    chunks = models.BigIntegerField(default=0)
    words = models.BigIntegerField(default=0)
    fresh = models.BigIntegerField(
        default=0, help_text="Chunks written since the last packing; some may be gone."
    )
    languages = ArrayField(
        models.CharField(max_length=2), default=list, help_text="Of any text there ever was."
    )

    objects = LibrarySizeManager()

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.chunks}"
