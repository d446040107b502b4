"""The forms by which memory is added and changed, and the asks behind them."""

from typing import Any

from django import forms
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminDateWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from knowledge.access import Access
from knowledge.admin.base import AskForm
from knowledge.admin.fields import LinesField
from knowledge.library import editing
from knowledge.memory import remembering, task_changes
from knowledge.memory.workflow import moves_from
from knowledge.models import Item, ItemType, Memory, Relation, RelationType
from knowledge.models.attributes import PRIORITIES, TASK_STATUSES

_TASK_FIELDS = (
    *("title", "content", "status", "priority", "assignees", "due_date", "category"),
    *("tags", "languages", "project", "depends_on"),
)


def _projects() -> Any:
    found = Item.objects.filter(type=ItemType.PROJECT).select_related("content")
    return found.defer("content__text", "content__locators").order_by("content__title")


class MemoryForm(AskForm[Memory]):
    """What everything that is remembered may say of itself."""

    title = forms.CharField(
        max_length=remembering.MAX_MEMORY_TITLE, widget=UnfoldAdminTextInputWidget
    )
    tags = LinesField(required=False, help_text="One tag per line.")

    class Meta:
        model = Memory
        fields: list[str] = []


class AddMemoryForm(MemoryForm):
    entity_type = forms.ChoiceField(
        label="Type",
        choices=[(name, name) for name in remembering.ENTITY_TYPES],
        initial=ItemType.EPISODE,
        widget=UnfoldAdminSelectWidget,
    )
    content = forms.CharField(
        strip=False,
        max_length=remembering.MAX_CONTENT,
        widget=UnfoldAdminTextareaWidget({"rows": 12}),
    )
    category = forms.CharField(required=False, widget=UnfoldAdminTextInputWidget)
    languages = LinesField(required=False, help_text="Programming languages, one per line.")
    project = forms.ModelChoiceField(
        _projects(), required=False, widget=UnfoldAdminSelectWidget, help_text="A task needs one."
    )
    related_to = LinesField(
        required=False,
        label="Related to",
        help_text="Ids of items, one per line. To say how they are related, put supersedes:, "
        "contradicts:, requires:, supports: or decides: before an id.",
    )
    priority = forms.ChoiceField(
        required=False,
        choices=[("", "default"), *((name, name) for name in PRIORITIES)],
        widget=UnfoldAdminSelectWidget,
    )
    assignees = LinesField(required=False, help_text="One per line.")
    due_date = forms.DateField(required=False, widget=UnfoldAdminDateWidget)
    depends_on = LinesField(
        required=False, label="Waits for", help_text="Ids of tasks, one per line."
    )

    class Meta(MemoryForm.Meta):
        fields = ["owner"]

    def clean_content(self) -> str:
        return with_plain_breaks(self.cleaned_data["content"])


class TaskForm(AddMemoryForm):
    """A task, with the statuses that it can go to."""

    entity_type = None  # type: ignore[assignment]
    related_to = None  # type: ignore[assignment]
    status = forms.ChoiceField(widget=UnfoldAdminSelectWidget)

    class Meta(MemoryForm.Meta):
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        task, attributes = self.instance, self.instance.attributes
        said = {name: attributes.get(name) for name in _TASK_FIELDS if name in attributes}
        waits_for = [str(each) for each in _waits_for(task)]
        self.initial.update(
            said, title=task.title, content=task.content.text, tags=task.tags, depends_on=waits_for
        )
        status = str(attributes.get("status", TASK_STATUSES[0]))
        self.initial["status"] = status
        if isinstance(field := self.fields.get("status"), forms.ChoiceField):
            field.choices = [(each, each) for each in (status, *moves_from(status))]


class OtherForm(MemoryForm):
    """Text is changed by superseding it with a new item; this form changes only how it is filed."""

    class Meta(MemoryForm.Meta):
        fields = ["in_kb", "archived"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.update(title=self.instance.title, tags=self.instance.tags)


def remember_by(form: forms.Form) -> remembering.RememberAnswer:
    """Remember what the form says, as the owner."""
    asked: dict[str, Any] = {
        name: value or None for name, value in _form_values(form).items() if name != "owner"
    }
    return remembering.add(Access.whole_library(form.cleaned_data["owner"].pk), **asked)


def change_by(form: forms.Form, item: Item) -> None:
    """Change what the form changed, as the owner."""
    access = Access.whole_library(item.owner_id)
    data = {name: value for name, value in _form_values(form).items() if name in form.changed_data}
    if item.type != ItemType.TASK:
        editing.update_item(access, item.pk, editing.ItemChanges(**data))
    elif data:
        task_changes.manage(access, action="update_task", entity_id=item.pk, data=data)


def with_plain_breaks(text: str) -> str:
    return text.replace("\r\n", "\n")  # how browsers send line breaks


def _form_values(form: forms.Form) -> dict[str, Any]:
    """What was filled in, as the asks take it."""
    given = dict(form.cleaned_data)
    if project := given.get("project"):
        given["project"] = str(project.pk)
    if due := given.get("due_date"):
        given["due_date"] = due.isoformat()
    if not given.get("priority"):
        given.pop("priority", None)
    return given


def _waits_for(task: Item) -> Any:
    found = Relation.objects.in_force().filter(source=task, type=RelationType.DEPENDS_ON)
    return found.order_by("created_at").values_list("target", flat=True)
