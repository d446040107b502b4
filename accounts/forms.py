from typing import Any

from django import forms
from django.contrib.auth.models import User

from tokens.forms import MintingForm, Reach, ReachField


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


class MintForm(MintingForm):
    """A token for an agent or a program of one's own."""

    field_order = ["name"]
    name = forms.CharField(
        max_length=100, help_text="Who or what will use it, such as “Claude Code on the laptop”."
    )
    reach = ReachField(initial=Reach.LIBRARY)

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer_folders_of(person)
