"""Marks, notes and progress as the reader sends them, and searches that are kept."""

from uuid import uuid4

import pytest
from django.template import Context, Template
from django.test import Client, RequestFactory

from console.library_query import LibraryQuery
from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.library.items import get_item
from knowledge.models import Highlight, Item, SavedSearch
from knowledge.reading.highlights import Passage, highlight_passage, note_passage
from knowledge.reading.progress import progress_of, save_progress
from knowledge.reading.saved_searches import save_search

QUERY = LibraryQuery(q="granite", page=2)
HTMX = {"HX-Request": "true"}
TEXT = "Granite is hard. Slate splits. Chalk is soft, and writes on slate."
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def item(library: Access) -> Item:
    return add_text(library, title="Stones", text=TEXT)


def rendered(tag: str, person, **context: object) -> str:
    request = RequestFactory().get("/")
    request.user = person
    template = Template("{% load marks %}{% " + tag + " %}")
    return template.render(
        Context({"request": request, "csrf_token": "x", "query": QUERY, **context})
    )


def test_a_selection_becomes_a_highlight_and_undo_takes_it_back(
    visitor: Client, item: Item
) -> None:
    sent = {"quote": "Slate splits.", "near": "17", "colour": "green"}
    answer = visitor.post(f"/items/{item.pk}/marks", sent, headers=HTMX)
    page = answer.content.decode()
    assert 'data-span="17,30"' in page
    assert 'data-colour="green"' in page
    [undo] = [part.split('"')[0] for part in page.split('action="') if part.startswith("/undo/")]
    visitor.post(undo)
    assert not Highlight.objects.exists()


def test_a_note_is_written_changed_and_stays_without_its_highlight(
    visitor: Client, item: Item
) -> None:
    sent = {"quote": "Slate splits.", "note": "Ask a roofer."}
    visitor.post(f"/items/{item.pk}/marks", sent, headers=HTMX)
    highlight = Highlight.objects.get()
    page = visitor.post(f"/highlights/{highlight.pk}/note", {"note": "Asked."}, headers=HTMX)
    assert "Asked." in page.content.decode()
    visitor.post(f"/highlights/{highlight.pk}/remove", headers=HTMX)
    assert not Highlight.objects.exists()
    assert Item.objects.filter(content__text__startswith="Asked.").exists()


def test_notes_on_the_whole_need_no_script(visitor: Client, item: Item) -> None:
    answer = visitor.post(f"/items/{item.pk}/notes", {"note": "Read again."})
    assert answer["Location"] == f"/items/{item.pk}#marks"
    assert "Read again." in visitor.get(f"/items/{item.pk}/marks", headers=HTMX).content.decode()


def test_what_cannot_be_marked_is_told_and_nothing_changes(visitor: Client, item: Item) -> None:
    for sent in ({}, {"quote": "Not there at all."}, {"quote": "x", "colour": "black"}):
        answer = visitor.post(f"/items/{item.pk}/marks", sent, headers=HTMX)
        assert answer.status_code == 400
        assert answer["HX-Reswap"] == "none"
    assert not Highlight.objects.exists()


def test_progress_is_kept_and_offered(visitor: Client, item: Item, library: Access, owner) -> None:
    assert visitor.post(f"/items/{item.pk}/progress", {"share": "0.5"}).status_code == 204
    assert progress_of(library, [item.pk]) == {item.pk: 0.5}
    for share in ("", "2", "nan", "x"):
        assert visitor.post(f"/items/{item.pk}/progress", {"share": share}).status_code == 400
    shown = rendered("reading_place item", owner, item=get_item(library, item.pk))
    assert 'href="?at=33,34#char=33,34"' in shown
    assert "50 % read" in shown
    assert "Stones" in rendered("continue_reading", owner)


def test_a_search_is_kept_opened_and_deleted(visitor: Client, owner) -> None:
    answer = visitor.post("/searches", {"name": "Hard stone", "query": "q=granite&mode=keyword"})
    assert answer["Location"] == "/?q=granite&mode=keyword"
    shown = rendered("saved_searches", owner)
    assert 'href="/?q=granite&amp;mode=keyword"' in shown
    assert "Save this search" in shown
    assert visitor.post("/searches", {"name": "hard STONE", "query": "q=x"}).status_code == 409
    assert visitor.post("/searches", {"name": "", "query": "q=x"}).status_code == 400
    saved = SavedSearch.objects.get()
    visitor.post(f"/searches/{saved.pk}/delete")
    assert not SavedSearch.objects.exists()


def test_nothing_of_anothers_reading_is_told_or_changed(
    other_visitor: Client, item: Item, library: Access, stranger
) -> None:
    highlight = note_passage(library, item.pk, Passage(quote="Slate splits."), "Mine.")
    save_progress(library, item.pk, 0.5)
    saved = save_search(library, "Ada's search", "q=x")
    for way, sent in (
        (f"/items/{item.pk}/marks", {"quote": "Granite is hard."}),
        (f"/items/{item.pk}/notes", {"note": "Theirs."}),
        (f"/items/{item.pk}/progress", {"share": "1"}),
        (f"/highlights/{highlight.pk}/note", {"note": "Theirs."}),
        (f"/highlights/{highlight.pk}/remove", {}),
        (f"/searches/{saved.pk}/delete", {}),
        (f"/highlights/{uuid4()}/remove", {}),
    ):
        answer = other_visitor.post(way, sent, headers=HTMX)
        assert answer.status_code == 404
        assert "Mine" not in answer.content.decode()
    assert other_visitor.get(f"/items/{item.pk}/marks", headers=HTMX).status_code == 404
    assert "Ada" not in rendered("saved_searches", stranger)
    assert "Stones" not in rendered("continue_reading", stranger)
    for tag in ("reading_marks item", "reading_place item"):
        assert rendered(tag, stranger, item=item).strip() == ""
    assert Highlight.objects.count() == 1


def test_hostile_words_are_only_words(visitor: Client, library: Access, owner) -> None:
    item = add_text(library, title=HOSTILE, text=f"{HOSTILE} is what this text says, and no more.")
    highlight_passage(library, item.pk, Passage(quote=HOSTILE))
    visitor.post(f"/items/{item.pk}/notes", {"note": HOSTILE})
    save_progress(library, item.pk, 0.5)
    save_search(library, HOSTILE, f"q={HOSTILE}")
    item = get_item(library, item.pk)
    pages = [
        visitor.get(f"/items/{item.pk}/marks", headers=HTMX).content.decode(),
        rendered("reading_marks item", owner, item=item),
        rendered("saved_searches", owner),
        rendered("continue_reading", owner),
    ]
    for page in pages:
        assert "&lt;script&gt;alert(1)" in page
        assert HOSTILE not in page
