"""What a person chooses for a token or a connection, on whichever page they choose it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.models import User
from django.core.signing import BadSignature
from django.db.models import TextChoices

from knowledge.access import Access
from knowledge.models import Folder
from tokens.minting import DEFAULT_DAYS, MAX_DAYS, TokenRequest
from tokens.models import Toolset, default_toolsets
from tokens.single_use import new_form_id, read_form_id, spend


class Reach(TextChoices):
    FOLDERS = "folders", "Only the folders chosen here"
    LIBRARY = "library", "The whole library"


class ReachField(forms.ChoiceField):
    def __init__(self, **options: Any) -> None:
        defaults = {"initial": Reach.FOLDERS, "widget": forms.RadioSelect}
        super().__init__(choices=Reach, **{**defaults, **options})


class ToolsetsField(forms.MultipleChoiceField):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            choices=Toolset,
            initial=default_toolsets,
            help_text="The groups of tools that it can use.",
            error_messages={"required": "Choose at least one group of tools."},
            **{"widget": forms.CheckboxSelectMultiple, **options},
        )


class ReachForm(forms.Form):
    """What it sees, whether it writes, and its tools."""

    reach = ReachField()
    folder_ids = forms.ModelMultipleChoiceField(
        Folder.objects.none(),
        label="Folders",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    can_write = forms.BooleanField(
        label="Add, change and delete", help_text="Without it, it only reads.", required=False
    )
    toolsets = ToolsetsField()

    def offer_folders_of(self, person: User) -> None:
        mine = Folder.objects.visible_to(Access.whole_library(person.pk)).order_by("name")
        self.fields["folder_ids"].queryset = mine  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any] | None:
        reach, folders = self.cleaned_data.get("reach"), self.cleaned_data.get("folder_ids")
        if reach == Reach.LIBRARY and folders:
            self.add_error("folder_ids", "Choose the whole library or folders, not both.")
        if reach == Reach.FOLDERS and not folders and "folder_ids" not in self.errors:
            self.add_error("folder_ids", "Choose at least one folder, or the whole library.")
        return super().clean()

    @property
    def chosen_folder_ids(self) -> list[UUID] | None:
        """None is the whole library."""
        if self.cleaned_data["reach"] == Reach.LIBRARY:
            return None
        return [folder.pk for folder in self.cleaned_data["folder_ids"]]


class MintingForm(ReachForm):
    """A form that mints one token, once."""

    expires_days = forms.IntegerField(
        label="Expires in days", initial=DEFAULT_DAYS, min_value=1, max_value=MAX_DAYS
    )
    form_id = forms.CharField(required=False, initial=new_form_id, widget=forms.HiddenInput)

    def clean_form_id(self) -> str:
        try:
            return read_form_id(self.cleaned_data["form_id"])
        except BadSignature:
            self.add_error(None, "This form is too old. Open a new one.")
            return ""

    @property
    def token_request(self) -> TokenRequest:
        asked = self.cleaned_data
        return TokenRequest(
            name=asked["name"],
            folder_ids=self.chosen_folder_ids,
            can_write=asked["can_write"],
            kb_only=asked.get("kb_only", False),
            toolsets=asked["toolsets"],
            expires_days=asked["expires_days"],
        )

    def spend(self) -> None:
        """Use this form up, so that it mints no second token."""
        spend(self.cleaned_data["form_id"])


WINDOWS = {
    "1": "the last hour",
    "24": "the last day",
    "168": "the last week",
    "720": "the last 30 days",
}
"""How far back one looks at what a token wrote, in hours."""


class SpanForm(forms.Form):
    """The span that was looked at: what was shown is what is undone."""

    since = forms.CharField(widget=forms.HiddenInput)
    until = forms.CharField(widget=forms.HiddenInput)

    def clean_since(self) -> datetime:
        return _moment(self.cleaned_data["since"])

    def clean_until(self) -> datetime:
        return _moment(self.cleaned_data["until"])


def _moment(value: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise forms.ValidationError("This is not a valid date and time.")
    return moment
