"""The forms by which an item is added and changed, and the asks behind them."""

from typing import Any

from django import forms
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from knowledge.access import Access
from knowledge.admin.fields import FiledForm, LinesField
from knowledge.ingest import adding
from knowledge.ingest.items import MAX_TITLE
from knowledge.library import editing
from knowledge.library import items as library
from knowledge.models import Item

_EDITED = ("title", "tags", "in_kb", "archived")


class ItemForm(FiledForm[Item]):
    title = forms.CharField(max_length=MAX_TITLE, widget=UnfoldAdminTextInputWidget)
    tags = LinesField(required=False, help_text="One tag per line.")

    class Meta:
        model = Item
        fields = ["tags", "in_kb", "archived"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        item = self.instance
        folders = self.fields.get("folder_ids")
        if isinstance(folders, forms.ModelMultipleChoiceField) and folders.queryset is not None:
            folders.queryset = folders.queryset.filter(owner_id=item.owner_id)
        self.initial["title"] = item.title
        self.initial["folder_ids"] = list(item.filings.values_list("folder_id", flat=True))


class AddForm(FiledForm[Item]):
    """A text or a link, as its owner in person would add it."""

    url = forms.CharField(
        label="Link",
        required=False,
        max_length=adding.MAX_URL,
        widget=UnfoldAdminTextInputWidget,
        help_text="A web page, PDF, YouTube video, podcast or recording. Or enter a text below.",
    )
    title = forms.CharField(
        required=False,
        max_length=MAX_TITLE,
        widget=UnfoldAdminTextInputWidget,
        help_text="Required for a text. A link brings its own title.",
    )
    text = forms.CharField(
        required=False, strip=False, widget=UnfoldAdminTextareaWidget({"rows": 16})
    )
    tags = ItemForm.base_fields["tags"]
    auto_transform = forms.BooleanField(
        label="Write a summary", required=False, widget=UnfoldBooleanSwitchWidget
    )

    class Meta:
        model = Item
        fields = ["owner", "in_kb"]

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")  # how browsers send line breaks

    def clean(self) -> dict[str, Any] | None:
        url, text = self.cleaned_data.get("url"), self.cleaned_data.get("text")
        if bool(url) == bool(text) and "text" not in self.errors:
            self.add_error("url", "Enter either a link or a text, not both.")
        if text and not self.cleaned_data.get("title") and "title" not in self.errors:
            self.add_error("title", "A text needs a title.")
        return super().clean()

    def is_multipart(self) -> bool:
        return True  # otherwise a long text in most scripts is nine bytes a character


def add_by(form: forms.Form) -> adding.AddedItem:
    """Add what the form says, and file it, as the owner."""
    asked = form.cleaned_data
    access = Access.whole_library(asked["owner"].pk)
    added = adding.add_to_knowledge(
        access,
        kind="url" if asked["url"] else "text",
        url=asked["url"],
        text=asked["text"],
        title=asked["title"] or None,
        **{name: asked[name] for name in ("tags", "in_kb", "auto_transform")},
    )
    if folder_ids := {folder.pk for folder in asked["folder_ids"]}:
        library.file_item(access, added.item.pk, folder_ids)
    return added


def update_by(form: forms.Form, item: Item) -> None:
    """Change what the form changed, as the owner."""
    access = Access.whole_library(item.owner_id)
    asked = form.cleaned_data
    changes = {name: asked[name] for name in form.changed_data if name in _EDITED}
    editing.update_item(access, item.pk, editing.ItemChanges(**changes))
    wanted = {folder.pk for folder in asked["folder_ids"]}
    filed = set(item.filings.values_list("folder_id", flat=True))
    if wanted - filed:
        library.file_item(access, item.pk, wanted - filed)
    for folder_id in filed - wanted:
        library.unfile_item(access, item.pk, folder_id)
