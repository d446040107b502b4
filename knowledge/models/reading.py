from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from knowledge.access import Access
from knowledge.models.item import Item
from knowledge.models.naming import unique_name

MAX_QUOTE = 5_000


class Colour(models.TextChoices):
    YELLOW = "yellow"
    GREEN = "green"
    BLUE = "blue"
    PINK = "pink"


class HighlightQuerySet(models.QuerySet["Highlight"]):
    def visible_to(self, access: Access) -> Self:
        """Only passages of items that this caller may know exist."""
        seen = Item.objects.visible_to(access).values("pk")
        return self.filter(owner_id=access.owner_id, item__in=seen)


class Highlight(models.Model):
    """A passage that somebody marked; by its words it is found again in a text that changed."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="highlights"
    )
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="highlights")
    start = models.PositiveIntegerField(help_text="The first character, in the text as it was.")
    end = models.PositiveIntegerField()
    quote = models.TextField(help_text="The words of the passage.")
    colour = models.CharField(max_length=10, choices=Colour, default=Colour.YELLOW)
    note = models.ForeignKey(
        Item,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="noted_passages",
        help_text="The item that says something about the passage.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = HighlightQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="highlight_has_characters", condition=Q(end__gt=models.F("start"))
            )
        ]

    def __str__(self) -> str:
        return self.quote[:100]


class ReadingProgressQuerySet(models.QuerySet["ReadingProgress"]):
    def visible_to(self, access: Access) -> Self:
        """Only of items that this caller may know exist."""
        return self.filter(item__in=Item.objects.visible_to(access).values("pk"))


class ReadingProgress(models.Model):
    """How far the owner of an item has read it. A share, so that another text keeps it."""

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="reading_progress"
    )
    share = models.FloatField(validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    changed_at = models.DateTimeField()

    objects = ReadingProgressQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "reading progress"
        constraints = [
            models.CheckConstraint(
                name="progress_is_a_share", condition=Q(share__gte=0, share__lte=1)
            )
        ]

    def __str__(self) -> str:
        return f"{self.share:.0%} of {self.item_id}"


class SavedSearchQuerySet(models.QuerySet["SavedSearch"]):
    def visible_to(self, access: Access) -> Self:
        """Those of a caller that reaches the whole library: they may name any folder."""
        if access.folder_ids is not None:
            return self.none()
        return self.filter(owner_id=access.owner_id)


class SavedSearch(models.Model):
    """A search of the library that its owner keeps under a name."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_searches"
    )
    name = models.CharField(max_length=100)
    query = models.CharField(max_length=2_000, help_text="As in the address of the library.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SavedSearchQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "saved searches"
        constraints = [unique_name("saved search")]

    def __str__(self) -> str:
        return self.name
