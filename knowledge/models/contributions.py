from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from knowledge.access import Access
from knowledge.models.item import Item, Visibility


class Version(models.Model):
    """A skill or knowledge unit as it was contributed; every version is kept."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=50, blank=True, help_text="What its author calls it.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of all it holds.")
    document = models.JSONField(help_text="The unit, or the skill's SKILL.md and its fields.")
    files = models.JSONField(default=dict, blank=True, help_text="Bundled files by their path.")
    visibility = models.CharField(
        max_length=10,
        choices=Visibility,
        default=Visibility.PRIVATE,
        help_text="For whom it was contributed: publishing an item tells nothing of its past.",
    )
    added_by_agent = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="version_number_once")
        ]

    def __str__(self) -> str:
        return f"{self.item.title} v{self.number}"


class Quality(models.Model):
    """How good the server finds a skill or unit, factor by factor, and what validations say."""

    item = models.OneToOneField(
        Item, on_delete=models.CASCADE, primary_key=True, related_name="quality_parts"
    )
    profile = models.CharField(max_length=40, help_text="Which weights were used.")
    factors = models.JSONField(help_text="Each factor's value, weight and share of the score.")
    intrinsic = models.FloatField(help_text="What the factors add up to.")
    validations = models.JSONField(default=dict, help_text="How validations moved it.")
    score = models.FloatField()
    computed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.item_id}: {self.score:.2f}"


class Validation(models.Model):
    """One agent's judgment of a skill or unit. Only ever added to: a new one replaces the old."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="validations")
    agent_id = models.CharField(max_length=200)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        help_text="Whose agent judged: all tokens of one owner count as one.",
    )
    contributor = models.CharField(max_length=200, help_text="Whose work is judged.")
    valid = models.BooleanField()
    feedback = models.TextField(blank=True)
    is_current = models.BooleanField(default=True)
    was_public = models.BooleanField(
        default=False,
        editable=False,
        help_text="Everybody could read what was judged; hiding it later does not unsay this.",
    )
    reputation = models.FloatField(
        null=True, blank=True, editable=False, help_text="What its agent had when it judged."
    )
    added_by_token = models.UUIDField(null=True, blank=True, editable=False)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "agent_id"],
                condition=Q(is_current=True),
                name="one_judgment_per_agent_and_unit",
            )
        ]
        indexes = [
            models.Index(fields=["agent_id"], name="validation_by_agent"),
            models.Index(fields=["contributor"], name="validation_by_contributor"),
        ]

    def __str__(self) -> str:
        return f"{self.item.title}: {'valid' if self.valid else 'not valid'}"


class QuarantineReason(models.TextChoices):
    REPORTS = "reports"
    INJECTION = "injection"
    SECRET = "secret"  # noqa: S105 - the name of a reason


class Verdict(models.TextChoices):
    OPEN = "open"
    RESTORED = "restored"
    UPHELD = "upheld"


class Quarantine(models.Model):
    """An item that nobody but its owner finds until an admin has ruled, and how they ruled."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="quarantines")
    reason = models.CharField(max_length=20, choices=QuarantineReason)
    findings = models.JSONField(default=list, blank=True)
    verdict = models.CharField(max_length=10, choices=Verdict, default=Verdict.OPEN)
    ruled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    ruled_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(
                fields=["item"], condition=Q(verdict="open"), name="one_open_quarantine"
            )
        ]

    def __str__(self) -> str:
        return f"{self.item.title}: {self.reason}"


class HeldBack(models.Model):
    """A contribution that was deleted while it was quarantined: the same again is held at once."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    digest = models.CharField(max_length=64)
    reason = models.CharField(max_length=20, choices=QuarantineReason)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "digest"], name="held_back_once_per_owner")
        ]

    def __str__(self) -> str:
        return f"{self.digest[:12]}: {self.reason}"


class AllowedFinding(models.Model):
    """A value that looks like a secret and is none, by its fingerprint: it is let in."""

    fingerprint = models.CharField(
        max_length=64,
        unique=True,
        help_text="SHA-256 of the value, as the refused write was told it.",
    )
    note = models.CharField(max_length=500, blank=True, help_text="What it is.")
    allowed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.note or self.fingerprint[:12]


class Agent(models.Model):
    """An agent as the registry knows it: its reputation, and whether the operator trusts it."""

    agent_id = models.CharField(max_length=200, primary_key=True)
    is_trusted = models.BooleanField(
        default=False, help_text="Chosen by the operator: trust begins here."
    )
    score = models.FloatField(default=0.0, help_text="0 to 1.")
    trust = models.FloatField(
        default=0.0, help_text="What has reached it; who is trusted begins with 1."
    )
    contributions = models.PositiveIntegerField(default=0)
    parts = models.JSONField(default=dict, blank=True, help_text="What the score is made of.")
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-score", "agent_id"]

    def __str__(self) -> str:
        return self.agent_id


class ProviderQuerySet(models.QuerySet["Provider"]):
    def of_owner(self, access: Access) -> Self:
        return self.filter(owner_id=access.owner_id)

    def published_to(self, access: Access) -> Self:
        """Its own, and of others what they offer its organizations or the network.

        A whole library has all of its owner's; what reaches some folders has that of its agent.
        """
        colleagues = Group.user_set.through.objects.filter(group__user=access.owner_id)
        own = Q(owner_id=access.owner_id)
        if access.folder_ids is not None:
            own &= Q(agent_id=access.agent_id)
        return self.filter(
            own
            | Q(visibility=Visibility.NETWORK)
            | Q(visibility=Visibility.ORG, owner__in=colleagues.values("user_id"))
        )


class Provider(models.Model):
    """An agent that offers capabilities to the others on this server."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="providers"
    )
    agent_id = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    endpoint = models.TextField(blank=True, help_text="Where it is asked; shown, never called.")
    capabilities = ArrayField(models.CharField(max_length=100))
    visibility = models.CharField(max_length=10, default="network")
    created_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField()

    objects = ProviderQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
