from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from oauth2_provider.models import AbstractGrant

from knowledge.access import Access, Capability
from knowledge.errors import CapabilityDenied
from knowledge.models import Export, Folder


class Toolset(models.TextChoices):
    """A group of MCP tools that a token is shown."""

    LIBRARY = "library"
    MEMORY = "memory"
    REGISTRY = "registry"
    CHATGPT = "chatgpt", "ChatGPT"


def default_toolsets() -> list[str]:
    return [Toolset.LIBRARY]


class TokenQuerySet(models.QuerySet["Token"]):
    def of_owner(self, user_id: int) -> Self:
        return self.filter(owner_id=user_id)

    def with_owner(self) -> Self:
        """Those whose owner may still come in, with all that a call needs of them."""
        return (
            self.filter(owner__is_active=True).select_related("owner").prefetch_related("folders")
        )

    def revoke(self) -> int:
        """Make these tokens worthless from the very next call, with their links to exports."""
        exports = Export.objects.filter(token_id__in=self.values("pk"))
        exports.update(expires_at=timezone.now())
        return self.filter(revoked_at=None).update(revoked_at=timezone.now())


class Token(models.Model):
    """A credential that reaches just the folders it was given. Its secret is never stored."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens"
    )
    name = models.CharField(max_length=100)
    agent_id = models.CharField(max_length=200)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    prefix = models.CharField(max_length=12, editable=False)
    can_write = models.BooleanField(default=False)
    is_unscoped = models.BooleanField("whole library", default=False)
    folders = models.ManyToManyField(Folder, blank=True, related_name="tokens")
    kb_only = models.BooleanField("knowledge base only", default=False)
    toolsets = ArrayField(
        models.CharField(max_length=20, choices=Toolset), default=default_toolsets
    )
    limits = models.JSONField(
        default=dict,
        blank=True,
        help_text="Calls an hour of asks that differ from the server's.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    client = models.ForeignKey(
        "oauth2_provider.Application",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="connections",
        help_text="The OAuth client that the owner connected; empty for a token that was minted.",
    )

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset(Capability) if self.can_write else frozenset({Capability.READ})

    @property
    def access(self) -> Access:
        """This token's reach, read fresh: a deleted folder is gone from it at once."""
        folder_ids = None
        if not self.is_unscoped:
            folder_ids = frozenset(folder.pk for folder in self.folders.all())
        return Access(
            owner_id=self.owner_id,
            capabilities=self.capabilities,
            folder_ids=folder_ids,
            kb_only=self.kb_only,
            token_id=self.pk,
            agent_id=self.agent_id,
        )

    def require_toolset(self, *names: str) -> None:
        """Refuse the ask unless this token has one of these toolsets."""
        if set(names) & set(self.toolsets):
            return
        needed = f"the toolset {names[0]}" if len(names) == 1 else f"one of {', '.join(names)}"
        raise CapabilityDenied(
            f"This needs {needed}; ask for a token that has it.",
            required=list(names),
            have=sorted(self.toolsets),
        )

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        if self.expires_at <= timezone.now():
            return "expired"
        if not self.is_unscoped and not self.folders.all():
            return "revoked"  # its last folder was deleted
        return "active"


class Grant(AbstractGrant):  # type: ignore[misc]
    """An authorization code, with the reach that the person chose when they consented."""

    reach = models.JSONField(default=dict)


class Event(models.Model):
    """One thing a token did: never its secret, never the text. Only ever added to."""

    token = models.ForeignKey(Token, on_delete=models.SET_NULL, null=True, related_name="events")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    edge = models.CharField(max_length=10)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=60, blank=True)
    outcome = models.CharField(max_length=40)
    latency_ms = models.PositiveIntegerField()
    request_id = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]
        indexes = [
            models.Index(fields=["token", "-at"], name="event_newest_by_token"),
            models.Index(fields=["owner", "-at"], name="event_newest_by_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.action}: {self.outcome}"
