"""The form that mints, the page that shows a secret once, and why it is shown once.

The secret is written into the answer to the form and nowhere else: not into the session, a
message, a cookie or an address, so there is nothing to take it from later. What is left is the
form being sent again by a reload. Each form carries an id that mints once, so that answers with
a refusal and not with a second token.
"""

import json

from django import forms
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminRadioSelectWidget,
)

from knowledge.admin.fields import FiledForm, FoldersField
from tokens.forms import MintingForm, ReachField, ToolsetsField
from tokens.minting import DEFAULT_DAYS, MAX_DAYS
from tokens.models import Token


class MintForm(MintingForm, FiledForm[Token]):
    """What a token should be. There is no form that changes one."""

    reach = ReachField(widget=UnfoldAdminRadioSelectWidget)
    folder_ids = FoldersField()
    can_write = None  # type: ignore[assignment]  # the model's own, as the admin draws it
    toolsets = ToolsetsField(widget=UnfoldAdminCheckboxSelectMultipleWidget)
    expires_days = forms.IntegerField(
        label="Expires in days",
        initial=DEFAULT_DAYS,
        min_value=1,
        max_value=MAX_DAYS,
        widget=UnfoldAdminIntegerFieldWidget,
    )

    class Meta:
        model = Token
        fields = ["owner", "name", "can_write", "kb_only"]
        help_texts = {
            "name": "Who or what will use it, such as “Claude Code on the laptop”.",
            "can_write": "Can add, change and delete items within its reach.",
            "kb_only": "Sees only items in the knowledge base, and adds only there.",
        }


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
