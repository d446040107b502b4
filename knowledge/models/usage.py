from django.conf import settings
from django.db import models


class Usage(models.Model):
    """What one owner has used of a monthly allowance: reserved before the work, settled after."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="usage"
    )
    month = models.DateField(help_text="The first day of the month.")
    transcription_sec_used = models.PositiveIntegerField(default=0)
    transcription_sec_reserved = models.PositiveIntegerField(default=0)
    transforms = models.PositiveIntegerField(default=0)
    answers = models.PositiveIntegerField(default=0, help_text="Questions that were answered.")
    answers_cost_usd = models.DecimalField(max_digits=10, decimal_places=4, default=0)
    is_told_near = models.BooleanField(
        default=False, help_text="Whether webhooks were told that most of the month is used."
    )

    class Meta:
        verbose_name_plural = "usage"
        constraints = [
            models.UniqueConstraint(fields=["owner", "month"], name="usage_once_per_month")
        ]

    def __str__(self) -> str:
        return f"{self.owner} in {self.month:%B %Y}"
