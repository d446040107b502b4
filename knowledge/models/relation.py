from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from knowledge.access import Access
from knowledge.models.item import Item


class RelationType(models.TextChoices):
    RELATED_TO = "related_to"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    REQUIRES = "requires"
    SUPPORTS = "supports"
    DECIDES = "decides"
    DEPENDS_ON = "depends_on"
    BELONGS_TO = "belongs_to"
    DERIVED_FROM = "derived_from"


class RelationQuerySet(models.QuerySet["Relation"]):
    def visible_to(self, access: Access) -> Self:
        """Only relations between two items that this caller may know exist."""
        seen = Item.objects.visible_to(access).values("pk")
        return self.filter(owner_id=access.owner_id, source__in=seen, target__in=seen)

    def in_force(self) -> Self:
        """Relations that hold now."""
        ended = Q(valid_until__isnull=False, valid_until__lte=Now())
        return self.filter(valid_from__lte=Now()).exclude(ended)


class Relation(models.Model):
    """A typed, weighted edge between two items of one owner; ended, never overwritten."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="relations"
    )
    source = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="relations_out")
    target = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="relations_in")
    type = models.CharField(max_length=20, choices=RelationType, default=RelationType.RELATED_TO)
    weight = models.FloatField(
        default=1.0, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    valid_from = models.DateTimeField(default=timezone.now)
    valid_until = models.DateTimeField(null=True, blank=True)
    added_by_token = models.UUIDField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = RelationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "target", "type"],
                condition=Q(valid_until__isnull=True),
                name="relation_in_force_once",
            ),
            models.CheckConstraint(
                name="relation_between_two",
                condition=~Q(source=models.F("target")),
                violation_error_message="An item cannot be related to itself.",
            ),
            models.CheckConstraint(
                name="relation_weight_is_a_share", condition=Q(weight__gte=0, weight__lte=1)
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "type"], name="relation_by_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.source.title} {self.type} {self.target.title}"
