from django.conf import settings
from django.db import models
from django.utils import timezone


class Invitation(models.Model):
    """A link that works once: it makes an account, or sets a new password for the one it names."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    email = models.EmailField(blank=True)
    is_admin = models.BooleanField(default=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="invitations",
        help_text="Whose password the link sets; empty for a new account.",
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="made_invitations",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.email or f"Invitation of {self.created_at:%Y-%m-%d}"

    @property
    def state(self) -> str:
        if self.used_at:
            return "used"
        return "expired" if self.expires_at <= timezone.now() else "open"
