"""The forms by which things are brought in: each is checked by the function that adds them."""

from typing import Any, cast
from uuid import UUID

from django import forms

from console.sentences import add_problem
from knowledge.access import Access
from knowledge.crawling.documentation import DEPTH, PAGES
from knowledge.errors import QuarryError
from knowledge.feeds.following import DEFAULT_ENTRIES
from knowledge.imports.batches import ImportOptions
from knowledge.library.items import list_folders
from knowledge.models.documentation import MAX_DEPTH, MAX_PAGES
from knowledge.models.feed import MAX_ENTRIES_PER_POLL

FOLDERS_OF_THE_EXPORT = "export"


class FolderForm(forms.Form):
    """Where something goes."""

    folder = forms.ChoiceField(required=False)
    more_folders: tuple[tuple[str, str], ...] = ()

    def __init__(self, *args: Any, access: Access, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        folders = [(str(folder.pk), folder.name) for folder in list_folders(access)]
        field = cast(forms.ChoiceField, self.fields["folder"])
        field.choices = [*self.more_folders, ("", "No folder"), *folders]

    @property
    def folder_id(self) -> UUID | None:
        chosen = self.cleaned_data["folder"]
        return UUID(chosen) if chosen and chosen != FOLDERS_OF_THE_EXPORT else None

    def refuse(self, error: QuarryError) -> None:
        """Put an error of the domain at the field that it is about."""
        add_problem(self, error)


class FilingForm(FolderForm):
    """Where something goes, and its tags."""

    tags = forms.CharField(
        required=False, widget=forms.TextInput(attrs={"placeholder": "stone, reading"})
    )

    @property
    def tag_list(self) -> list[str]:
        return [tag.strip() for tag in self.cleaned_data["tags"].split(",") if tag.strip()]


class LinksForm(FilingForm):
    """One link or many."""

    links = forms.CharField(
        label="Links",
        widget=forms.Textarea(
            attrs={"rows": 3, "placeholder": "https://…  one a line, or a text with links in it"}
        ),
    )
    may_transcribe = forms.BooleanField(
        required=False,
        label="Transcribe recordings without asking",
        help_text="Otherwise a recording waits until you agree to its minutes and price.",
    )
    field_order = ("links", "folder", "tags", "may_transcribe")

    @property
    def options(self) -> ImportOptions:
        return ImportOptions(
            folder_id=self.folder_id,
            tags=self.tag_list,
            may_transcribe=self.cleaned_data["may_transcribe"],
        )


class TextForm(FilingForm):
    """A text of one's own."""

    title = forms.CharField(max_length=500)
    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 8}), help_text="Markdown is fine.")
    field_order = ("title", "text", "folder", "tags")


class FilesForm(FilingForm):
    """Where files go; the files themselves are read from the request."""

    field_order = ("folder", "tags")


class ImportFileForm(forms.Form):
    """Another program's export."""

    file = forms.FileField(label="Export")


class ImportOptionsForm(FilingForm):
    """How the rows of an export are to be added."""

    more_folders = ((FOLDERS_OF_THE_EXPORT, "Folders as in the export"),)
    may_transcribe = forms.BooleanField(
        required=False,
        label="Transcribe recordings without asking",
        help_text="Otherwise each waits until you agree to its minutes and price.",
    )

    @property
    def options(self) -> ImportOptions:
        return ImportOptions(
            folder_id=self.folder_id,
            keeps_folders=self.cleaned_data["folder"] == FOLDERS_OF_THE_EXPORT,
            tags=self.tag_list,
            may_transcribe=self.cleaned_data["may_transcribe"],
        )


class CaptureForm(FilingForm):
    """A page as one's browser shows it, or only its link."""

    url = forms.CharField(widget=forms.HiddenInput)
    html = forms.CharField(required=False, widget=forms.HiddenInput)
    title = forms.CharField(max_length=500, required=False)
    field_order = ("title", "folder", "tags")


class FeedForm(FilingForm):
    """A feed to follow, or changes to one."""

    url = forms.CharField(
        label="Address",
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "https://example.org/"}),
        help_text="Of a feed, a podcast, or a page that names its feed.",
    )
    max_entries = forms.IntegerField(
        label="Entries each time",
        initial=DEFAULT_ENTRIES,
        min_value=1,
        max_value=MAX_ENTRIES_PER_POLL,
        help_text="At first and each time it is asked, at most so many of the newest are added.",
    )
    may_transcribe = forms.BooleanField(
        required=False,
        label="Transcribe episodes without asking",
        help_text="Otherwise each waits until you agree to its minutes and price.",
    )
    field_order = ("url", "folder", "tags", "max_entries", "may_transcribe")


class FeedChangesForm(FeedForm):
    """What can be changed of a feed; its address stays."""

    url = None  # type: ignore[assignment]
    title = forms.CharField(label="Name", max_length=500)
    field_order = ("title", "folder", "tags", "max_entries", "may_transcribe")


class SourceForm(FolderForm):
    """A site to crawl."""

    start_url = forms.CharField(
        label="Address",
        widget=forms.TextInput(
            attrs={"inputmode": "url", "placeholder": "https://docs.example.org/"}
        ),
    )
    name = forms.CharField(max_length=200)
    include = forms.CharField(
        required=False,
        label="Only pages",
        help_text="Patterns of paths, such as /docs/*, separated by spaces.",
    )
    exclude = forms.CharField(required=False, label="Leave out")
    depth = forms.IntegerField(initial=DEPTH, min_value=1, max_value=MAX_DEPTH)
    max_pages = forms.IntegerField(
        label="Most pages", initial=PAGES, min_value=1, max_value=MAX_PAGES
    )

    field_order = ("start_url", "name", "folder", "include", "exclude", "depth", "max_pages")

    @property
    def asked(self) -> dict[str, Any]:
        """What `add_source` takes."""
        told = self.cleaned_data
        return {
            "name": told["name"],
            "start_url": told["start_url"],
            "include": told["include"].split(),
            "exclude": told["exclude"].split(),
            "depth": told["depth"],
            "max_pages": told["max_pages"],
            "folder_id": self.folder_id,
        }
