from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from knowledge.admin.base import ModelAdmin
from knowledge.models import Tier


@admin.register(Tier)
class TierAdmin(ModelAdmin[Tier]):
    """How much may be used in a month. Which tier a person has is on that person's page."""

    list_display = ["name", "cap", "is_default", "people_count"]
    fields = ["name", "minutes_per_month", "is_default"]
    search_fields = ["name"]
    ordering = ["name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tier]:
        return super().get_queryset(request).annotate(given_to=Count("allowances"))

    @admin.display(description="minutes per month", ordering="minutes_per_month")
    def cap(self, tier: Tier) -> str:
        return "no cap" if tier.minutes_per_month is None else f"{tier.minutes_per_month:,}"

    @admin.display(description="assigned to", ordering="given_to")
    def people_count(self, tier: Tier) -> str:
        count: int = tier.given_to  # type: ignore[attr-defined]
        people = "1 person" if count == 1 else f"{count} people"
        return f"{people}, and everybody without a tier" if tier.is_default else people
