from django.db import models


class IdempotencyRecord(models.Model):
    """A POST that carried an Idempotency-Key: while it runs, and then what it was answered."""

    caller = models.CharField(max_length=60, help_text="Whose key: a token, or a person.")
    route = models.CharField(max_length=300)
    key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True, help_text="Empty while it runs.")
    body = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["caller", "route", "key"], name="idempotency_key_once")
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotency_oldest")]

    def __str__(self) -> str:
        return f"{self.route} ({self.status or 'running'})"
