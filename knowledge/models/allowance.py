from django.conf import settings
from django.db import models


class TierManager(models.Manager["Tier"]):
    def for_owner(self, owner_id: int) -> "Tier | None":
        """The owner's tier, or else the default one; without any tier there is no cap."""
        given = self.filter(allowances__owner_id=owner_id).first()
        return given or self.filter(is_default=True).first()


class Tier(models.Model):
    """How much an owner may use in a month."""

    name = models.CharField(max_length=50, unique=True)
    minutes_per_month = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of transcription; empty is without a cap."
    )
    is_default = models.BooleanField(
        default=False, help_text="For every owner who has been given no other."
    )

    objects = TierManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"],
                condition=models.Q(is_default=True),
                name="one_default_tier",
                violation_error_message="Another tier is the default already.",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Allowance(models.Model):
    """The tier that an owner has been given."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="allowance"
    )
    tier = models.ForeignKey(Tier, on_delete=models.PROTECT, related_name="allowances")

    def __str__(self) -> str:
        return f"{self.owner}: {self.tier}"


class ReservationState(models.TextChoices):
    RESERVED = "reserved"
    SETTLED = "settled"
    RETURNED = "returned"


class Reservation(models.Model):
    """Seconds of transcription set aside for one content, by the owner who asked first."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reservations"
    )
    content_id = models.UUIDField()
    month = models.DateField(help_text="The first day of the month that it counts in.")
    seconds = models.PositiveIntegerField()
    state = models.CharField(
        max_length=10, choices=ReservationState, default=ReservationState.RESERVED
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["content_id"],
                condition=models.Q(state="reserved"),
                name="one_open_reservation",
            )
        ]

    def __str__(self) -> str:
        return f"{self.seconds / 60:,.1f} minutes for {self.owner} ({self.state})"
