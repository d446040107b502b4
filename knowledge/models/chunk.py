from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import HalfVectorField

from knowledge.models.item import Item
from knowledge.text.chunking import Piece


class Generation(models.Model):
    """One embedder's set of vectors. Searches use the live one and never mix two."""

    embedder = models.CharField(max_length=100, help_text="Its name in the settings.")
    model = models.CharField(max_length=200, help_text="The model that the embedder ran then.")
    dimensions = models.PositiveIntegerField()
    background = models.FloatField(help_text="Cosine of unrelated texts; scores count from here.")
    is_live = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(
        null=True, blank=True, help_text="When another took its place; nothing is written since."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_live"],
                condition=models.Q(is_live=True),
                name="one_live_generation",
            ),
            models.CheckConstraint(
                name="live_generation_not_retired",
                condition=models.Q(is_live=False) | models.Q(retired_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.embedder} ({self.dimensions})"

    @property
    def state(self) -> str:
        if self.is_live:
            return "live"
        return "building" if self.retired_at is None else "retired"


class Chunk(models.Model):
    """A searchable piece of one in-KB item; its text is the content's span, to the character."""

    # No index that a constraint or another table has already: they cost as much as the row.
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    heading_path = ArrayField(models.TextField(), default=list, blank=True)
    text = models.TextField()
    locator = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "position"], name="chunk_position_once")
        ]

    def __str__(self) -> str:
        return f"{self.item_id} #{self.position}"

    @property
    def piece(self) -> Piece:
        return Piece(self.start, self.end, self.text, tuple(self.heading_path))


class ChunkText(models.Model):
    """The narrow keyword row of a chunk: what full-text search reads, and nothing else.

    It is written and deleted with its chunk, in one transaction, so nothing is gained by having
    the database look that chunk up for each row.
    """

    chunk = models.OneToOneField(
        Chunk, on_delete=models.CASCADE, primary_key=True, db_constraint=False
    )
    owner_id = models.IntegerField()
    item_id = models.UUIDField()
    tsv = SearchVectorField()
    length = models.PositiveIntegerField()
    segment_id = models.BigIntegerField(
        null=True, help_text="The segment that has its words packed; none yet for a fresh chunk."
    )

    class Meta:
        indexes = [models.Index(fields=["owner_id", "segment_id"], name="chunktext_segment")]


class WordSegment(models.Model):
    """Chunks of one library whose words are packed together; each is in one segment or fresh."""

    owner_id = models.IntegerField(db_index=True)
    chunks = models.PositiveIntegerField(help_text="When it was packed; some may be gone since.")
    packed_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.chunks}"


class WordPostings(models.Model):
    """The chunks of one segment that have a lexeme, each as one number (see `packing`).

    A copy of what the segment's tsvectors say, in the form that is quickest to rank by.
    """

    pk = models.CompositePrimaryKey("owner_id", "lexeme", "segment_id")
    owner_id = models.IntegerField()
    lexeme = models.TextField(db_collation="C")
    segment_id = models.BigIntegerField()
    size = models.PositiveIntegerField()
    entries = ArrayField(models.BigIntegerField())


class ChunkEmbedding(models.Model):
    """The narrow vector row of a chunk in one generation; its bits are kept by the database."""

    pk = models.CompositePrimaryKey("chunk_id", "generation_id")
    chunk = models.ForeignKey(
        Chunk,
        on_delete=models.CASCADE,
        related_name="embeddings",
        db_index=False,
        db_constraint=False,
    )
    owner_id = models.IntegerField()
    item_id = models.UUIDField()
    # An index of its own would tempt the planner, to whom a new generation looks empty.
    generation = models.ForeignKey(
        Generation, on_delete=models.CASCADE, db_index=False, db_constraint=False
    )
    vector = HalfVectorField()
