"""The form that mints, the page that shows a secret once, and why it is shown once.

The secret is written into the answer to the form and nowhere else: not into the session, a
message, a cookie or an address, so there is nothing to take it from later. What is left is the
form being sent again by a reload. Each form carries an id that mints once, so that answers with
a refusal and not with a second token.
"""

import json
from typing import Any

from django import forms
from django.core.signing import BadSignature
from django.db.models import TextChoices
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminRadioSelectWidget,
)

from knowledge.admin.fields import FiledForm
from tokens.minting import DEFAULT_DAYS, MAX_DAYS, TokenRequest
from tokens.models import Token, Toolset, default_toolsets
from tokens.single_use import new_form_id, read_form_id, spend


class Reach(TextChoices):
    FOLDERS = "folders", "Only the folders chosen below"
    LIBRARY = "library", "The owner's whole library"


class MintForm(FiledForm[Token]):
    """What a token should be. There is no form that changes one."""

    reach = forms.ChoiceField(
        choices=Reach, initial=Reach.FOLDERS, widget=UnfoldAdminRadioSelectWidget
    )
    toolsets = forms.MultipleChoiceField(
        choices=Toolset,
        initial=default_toolsets,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="The groups of tools that the token can use.",
    )
    expires_days = forms.IntegerField(
        label="Expires in days",
        initial=DEFAULT_DAYS,
        min_value=1,
        max_value=MAX_DAYS,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    form_id = forms.CharField(required=False, initial=new_form_id, widget=forms.HiddenInput)

    class Meta:
        model = Token
        fields = ["owner", "name", "can_write", "kb_only"]
        help_texts = {
            "name": "Who or what will use it, such as “Claude Code on the laptop”.",
            "can_write": "Can add, change and delete items within its reach.",
            "kb_only": "Sees only items in the knowledge base, and adds only there.",
        }

    def clean_form_id(self) -> str:
        try:
            return read_form_id(self.cleaned_data["form_id"])
        except BadSignature:
            self.add_error(None, "This form is too old. Open a new one.")
            return ""

    def clean(self) -> dict[str, Any] | None:
        reach, folders = self.cleaned_data.get("reach"), self.cleaned_data.get("folder_ids")
        if reach == Reach.LIBRARY and folders:
            self.add_error("folder_ids", "Choose the whole library or folders, not both.")
        if reach == Reach.FOLDERS and not folders and "folder_ids" not in self.errors:
            self.add_error("folder_ids", "Choose at least one folder.")
        return super().clean()

    @property
    def token_request(self) -> TokenRequest:
        asked = self.cleaned_data
        folder_ids = [folder.pk for folder in asked["folder_ids"]]
        return TokenRequest(
            name=asked["name"],
            folder_ids=None if asked["reach"] == Reach.LIBRARY else folder_ids,
            can_write=asked["can_write"],
            kb_only=asked["kb_only"],
            toolsets=asked["toolsets"],
            expires_days=asked["expires_days"],
        )

    def spend(self) -> None:
        """Use this form up, so that it mints no second token."""
        spend(self.cleaned_data["form_id"])


@sensitive_variables()
def ready_to_paste(request: HttpRequest, secret: str) -> list[dict[str, str]]:
    """How to hand the secret to an agent, for the address this server is reached by."""
    address = request.build_absolute_uri("/mcp")
    bearer = f"Bearer {secret}"
    server = {"type": "http", "url": address, "headers": {"Authorization": bearer}}
    return [
        {"id": "secret", "title": "The secret", "text": secret},
        {
            "id": "claude-code",
            "title": "Claude Code",
            "text": f"claude mcp add --transport http quarry {address} "
            f'--header "Authorization: {bearer}"',
        },
        {
            "id": "json",
            "title": "Any other MCP client",
            "text": json.dumps({"mcpServers": {"quarry": server}}, indent=2),
        },
    ]
