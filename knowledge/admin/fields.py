"""The form fields that more than one page uses."""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models.functions import Lower
from django.forms.models import ModelChoiceIterator
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminSelect2MultipleWidget,
    UnfoldAdminTextareaWidget,
)

from knowledge.admin.base import AskForm, M
from knowledge.models import Folder

if TYPE_CHECKING:
    _FolderChoices = forms.ModelMultipleChoiceField[Folder]
else:
    _FolderChoices = forms.ModelMultipleChoiceField


class LinesField(forms.Field):
    """A list of words, one to a line: no word can hold a line break, so none is torn apart."""

    widget = UnfoldAdminTextareaWidget({"rows": 3})

    def to_python(self, value: str | None) -> list[str]:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else "\n".join(value or [])

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(self.prepare_value(initial)) != self.to_python(data)


class ByOwner(ModelChoiceIterator):
    """Folders under the name of who owns them, for two owners may have one of the same name."""

    def __iter__(self) -> Iterator[Any]:
        for owner, folders in groupby(self.queryset, key=attrgetter("owner")):
            yield str(owner), [self.choice(folder) for folder in folders]


class FoldersField(_FolderChoices):
    iterator = ByOwner
    widget = UnfoldAdminSelect2MultipleWidget

    def __init__(self, **options: Any) -> None:
        folders = Folder.objects.select_related("owner")
        super().__init__(
            folders.order_by("owner__username", "owner_id", Lower("name")),
            required=False,
            label="Folders",
            **options,
        )


class FiledForm(AskForm[M]):
    """A form that names folders, which must be of the owner that it names."""

    folder_ids = FoldersField()

    def clean(self) -> dict[str, Any] | None:
        owner = self.cleaned_data.get("owner")
        folders = self.cleaned_data.get("folder_ids", [])
        foreign = [folder.name for folder in folders if owner and folder.owner != owner]
        if foreign:
            self.add_error(
                "folder_ids", f"Not a folder of {owner}: {', '.join(foreign)}. Leave it out."
            )
        return super().clean()
