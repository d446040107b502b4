from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import TextChoices

from knowledge.access import Access
from knowledge.models import Folder
from tokens.minting import DEFAULT_DAYS, MAX_DAYS, TokenRequest
from tokens.models import Toolset, default_toolsets


class AcceptForm(forms.Form):
    """The name and password of somebody who was invited."""

    username = forms.CharField(
        label="Name to sign in with",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        min_length=8,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least eight characters, and none that is easily guessed.",
    )


class ResetForm(AcceptForm):
    """A new password for somebody who has a name already."""

    username = None  # type: ignore[assignment]


class Reach(TextChoices):
    FOLDERS = "folders", "Only the folders chosen here"
    LIBRARY = "library", "My whole library"


class MintForm(forms.Form):
    """A token for an agent or a program of one's own."""

    name = forms.CharField(
        max_length=100, help_text="Who or what will use it, such as “Claude Code on the laptop”."
    )
    reach = forms.ChoiceField(choices=Reach, initial=Reach.LIBRARY, widget=forms.RadioSelect)
    folders = forms.ModelMultipleChoiceField(
        Folder.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )
    can_write = forms.BooleanField(required=False, label="Can add, change and delete")
    toolsets = forms.MultipleChoiceField(
        choices=Toolset, initial=default_toolsets, widget=forms.CheckboxSelectMultiple
    )
    expires_days = forms.IntegerField(
        label="Expires in days", initial=DEFAULT_DAYS, min_value=1, max_value=MAX_DAYS
    )
    form_id = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mine = Folder.objects.visible_to(Access.whole_library(person.pk)).order_by("name")
        self.fields["folders"].queryset = mine  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        asked = super().clean() or self.cleaned_data
        if asked.get("reach") == Reach.FOLDERS and not asked.get("folders"):
            self.add_error("folders", "Choose at least one folder, or the whole library.")
        return asked

    @property
    def token_request(self) -> TokenRequest:
        asked = self.cleaned_data
        folder_ids = [folder.pk for folder in asked["folders"]]
        return TokenRequest(
            name=asked["name"],
            folder_ids=None if asked["reach"] == Reach.LIBRARY else folder_ids,
            can_write=asked["can_write"],
            toolsets=asked["toolsets"],
            expires_days=asked["expires_days"],
        )
