"""Values that look like secrets and are none: an admin lets them in by their fingerprints."""

import re
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.forms import ModelForm
from django.http import HttpRequest

from knowledge.admin.base import ModelAdmin
from knowledge.models import AllowedFinding

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


class AllowedFindingForm(ModelForm):  # type: ignore[type-arg]  # takes none at run time
    def clean_fingerprint(self) -> str:
        fingerprint = str(self.cleaned_data["fingerprint"]).strip().lower()
        if not _FINGERPRINT.fullmatch(fingerprint):
            raise ValidationError(
                "A fingerprint has 64 digits and letters from a to f; the refused write names it. "
                "Never enter the value itself."
            )
        return fingerprint


@admin.register(AllowedFinding)
class AllowedFindingAdmin(ModelAdmin[AllowedFinding]):
    """A value that is removed here is refused again in the next write."""

    form = AllowedFindingForm
    list_display = ["fingerprint", "note", "allowed_by", "at"]
    fields = ["fingerprint", "note"]
    search_fields = ["fingerprint", "note"]

    def has_change_permission(
        self, request: HttpRequest, obj: AllowedFinding | None = None
    ) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: AllowedFinding, form: Any, change: bool
    ) -> None:
        obj.allowed_by = request.user if isinstance(request.user, User) else None
        super().save_model(request, obj, form, change)
