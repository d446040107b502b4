"""What a person does while reading: marks, notes, how far they are, searches to keep."""

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.pages import ConsoleView
from knowledge.errors import InvalidInput
from knowledge.library.items import visible_item
from knowledge.memory.remembering import MAX_CONTENT
from knowledge.models import Colour
from knowledge.models.reading import MAX_QUOTE
from knowledge.reading import highlights, progress, saved_searches
from knowledge.reading.highlights import Passage

MARKS = "console/parts/marks_list.html"


class PassageForm(forms.Form):
    """What was selected, where about it stands, and what is said of it."""

    quote = forms.CharField(max_length=MAX_QUOTE)
    near = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    colour = forms.ChoiceField(required=False, choices=Colour)
    note = forms.CharField(required=False, max_length=MAX_CONTENT)


class MarksView(ConsoleView):
    """All that is marked in an item; a passage is added by its words."""

    def get(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        return show_marks(self, item_id)

    def post(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        form = PassageForm(request.POST)
        if not form.is_valid():
            raise InvalidInput(f"Select up to {MAX_QUOTE:,} characters of the text.")
        given = form.cleaned_data
        passage = Passage(quote=given["quote"], near=given["near"] or 0)
        colour = given["colour"] or Colour.YELLOW
        if note := given["note"].strip():
            highlights.note_passage(self.undoable, item_id, passage, note, colour=colour)
            self.tell("Noted. Agents find the note too.", can_undo=True)
        else:
            highlights.highlight_passage(self.undoable, item_id, passage, colour=colour)
            self.tell("Highlighted.", can_undo=True)
        return show_marks(self, item_id)


class NoteView(ConsoleView):
    """The note on a highlight."""

    def post(self, request: HttpRequest, highlight_id: UUID) -> HttpResponse:
        words = request.POST.get("note", "")
        highlight = highlights.write_note(self.undoable, highlight_id, words)
        self.tell("Noted. Agents find the note too.", can_undo=True)
        return show_marks(self, highlight.item_id)


class RemoveHighlightView(ConsoleView):
    """Take a mark away."""

    def post(self, request: HttpRequest, highlight_id: UUID) -> HttpResponse:
        highlight = highlights.remove_highlight(self.undoable, highlight_id)
        self.tell("The highlight is gone; a note on it stays.", can_undo=True)
        return show_marks(self, highlight.item_id)


class ItemNoteView(ConsoleView):
    """A note on an item as a whole."""

    def post(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        highlights.note_item(self.undoable, item_id, request.POST.get("note", ""))
        self.tell("Noted. Agents find the note too.", can_undo=True)
        return show_marks(self, item_id)


class ProgressView(ConsoleView):
    """Where the reader is; sent by the page itself."""

    def post(self, request: HttpRequest, item_id: UUID) -> HttpResponse:
        try:
            share = float(request.POST.get("share", ""))
        except ValueError:
            raise InvalidInput("share must be a number.", field="share") from None
        progress.save_progress(self.access, item_id, share)
        return HttpResponse(status=204)


class SavedSearchesView(ConsoleView):
    """Keep the search that the library's address shows."""

    def post(self, request: HttpRequest) -> HttpResponse:
        query = request.POST.get("query", "")
        saved = saved_searches.save_search(self.undoable, request.POST.get("name", ""), query)
        self.tell(f"“{saved.name}” is kept.", can_undo=True)
        return self.go(f"{reverse('console:library')}?{saved.query}")


class DeleteSavedSearchView(ConsoleView):
    def post(self, request: HttpRequest, search_id: UUID) -> HttpResponse:
        saved_searches.delete_saved_search(self.undoable, search_id)
        self.tell("The saved search is gone.", can_undo=True)
        return self.go(reverse("console:library"))


def show_marks(view: ConsoleView, item_id: UUID) -> HttpResponse:
    """The list for htmx; without it, back to the reader, which has it."""
    item = visible_item(view.access, item_id)
    if not view.request.htmx:
        return view.go(f"{reverse('console:item', args=[item_id])}#marks")
    marks = highlights.marks_of(view.access, item)
    return view.show_part(MARKS, {"item": item, "marks": marks})
