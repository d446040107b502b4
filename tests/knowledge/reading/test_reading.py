"""What a person marks, notes and keeps while reading; and what becomes of it."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.errors import CapabilityDenied, Conflict, InvalidInput, NameTaken, NotFound
from knowledge.ingest.adding import add_text
from knowledge.library.items import delete_item, get_item
from knowledge.models import Content, Highlight, Item, ReadingProgress, Relation, SavedSearch
from knowledge.reading import highlights, progress, saved_searches
from knowledge.reading.highlights import Passage, marks_of
from knowledge.retrieval.search import LibrarySearchRequest, search
from knowledge.text.quotes import nearest_span
from tests.support.exchange import exported, imported, lines, wipe, with_lines
from tests.support.library import Add, Mint
from tests.support.undo import snapshot, undo_all

SECRET = "The key is ghp_" + "Zq7Xw2Lk9Vb4Nm1Ty8Rc3Hd6Js5Fg0PaEuQi"
TEXT = (
    "# Stones\n\nGranite is **very hard** and [slate](https://slate.example/a) splits.\n\n"
    "Chalk is soft. Granite is old. Chalk is soft."
)


@pytest.fixture
def theirs(stranger: User) -> Access:
    return Access.whole_library(stranger.pk)


@pytest.fixture
def item(library: Access) -> Item:
    return add_text(library, title="Stones of the coast", text=TEXT)


def mark(access: Access, item: Item, quote: str, near: int = 0) -> Highlight:
    return highlights.highlight_passage(access, item.pk, Passage(quote=quote, near=near))


def shown(access: Access, item: Item) -> list[tuple[str, str]]:
    """Each highlight's place in the text of today, and its note."""
    text = Content.objects.get(pk=item.content_id).text
    marks = marks_of(access, get_item(access, item.pk)).highlights
    return [(text[slice(*each.span)] if each.span else "", each.note) for each in marks]


def rewrite(item: Item, text: str) -> None:
    Content.objects.filter(pk=item.content_id).update(text=text)


# Places ---------------------------------------------------------------------------------------


def test_a_quote_is_found_through_marks_that_its_reader_does_not_see() -> None:
    for quote, said in {
        "Granite is very hard and slate splits.": "Granite is **very hard** and [slate](",
        "hard and slate": "hard** and [slate",
    }.items():
        start, end = nearest_span(quote, TEXT, near=0) or (0, 0)
        assert TEXT[start:end].startswith(said)
    assert nearest_span("Granite is soft", TEXT, near=0) is None
    assert nearest_span(" ", TEXT, near=0) is None
    assert nearest_span("(x+x+)+y", "x" * 5_000, near=0) is None


def test_of_the_same_words_twice_the_nearest_are_marked(library: Access, item: Item) -> None:
    last = TEXT.rindex("Chalk is soft.")
    assert mark(library, item, "Chalk is soft.").start == TEXT.index("Chalk is soft.")
    assert mark(library, item, "Chalk is soft.", near=last - 3).start == last


def test_marking_twice_is_marking_once(library: Access, item: Item) -> None:
    assert mark(library, item, "Granite is old.") == mark(library, item, "Granite  is\nold.")
    assert Highlight.objects.count() == 1


@pytest.mark.parametrize("quote", ["", "  ", "Granite is soft.", "x" * 5_001, "a\x00"])
def test_only_what_the_text_says_can_be_marked(library: Access, item: Item, quote: str) -> None:
    with pytest.raises(InvalidInput):
        mark(library, item, quote)
    assert not Highlight.objects.exists()


# A text that changes, an item that goes -------------------------------------------------------


def test_a_highlight_moves_with_its_words_and_stays_listed_without_them(
    library: Access, item: Item
) -> None:
    mark(library, item, "Granite is old.")
    mark(library, item, "Chalk is soft.")
    rewrite(item, f"A new preface.\n\n{TEXT}")
    assert shown(library, item) == [("Chalk is soft.", ""), ("Granite is old.", "")]

    rewrite(item, "Chalk is soft, and nothing else.")
    assert [place for place, _ in shown(library, item)] == ["Chalk is soft", ""]

    rewrite(item, TEXT)
    assert shown(library, item) == [("Chalk is soft.", ""), ("Granite is old.", "")]


def test_a_deleted_item_takes_its_marks_and_leaves_its_notes(library: Access, item: Item) -> None:
    passage = Passage(quote="Granite is old.")
    noted = highlights.note_passage(library, item.pk, passage, "Older than the sea.")
    progress.save_progress(library, item.pk, 0.5)

    delete_item(library, item.pk)

    assert not Highlight.objects.exists()
    assert not ReadingProgress.objects.exists()
    assert not Relation.objects.exists()
    note = get_item(library, noted.note_id or uuid4())
    assert note.content.text == "Older than the sea.\n\n> Granite is old."


def test_what_a_token_deletes_comes_back_with_all_its_marks(
    library: Access, item: Item, mint: Mint
) -> None:
    noted = highlights.note_passage(library, item.pk, Passage(quote="Granite is old."), "So old.")
    mark(library, item, "Chalk is soft.")
    progress.save_progress(library, item.pk, 0.5)
    before, agent = snapshot(), mint()

    delete_item(agent.access, noted.note_id or uuid4())
    assert ("Granite is old.", "") in shown(library, item)
    delete_item(agent.access, item.pk)
    assert undo_all(agent).skipped == []

    assert snapshot() == before
    assert ("Granite is old.", "So old.") in shown(library, item)
    assert progress.progress_of(library, [item.pk]) == {item.pk: 0.5}


def test_a_mark_whose_note_is_gone_for_good_comes_back_without_it(
    library: Access, item: Item, mint: Mint
) -> None:
    noted = highlights.note_passage(library, item.pk, Passage(quote="Granite is old."), "So old.")
    agent = mint()
    delete_item(agent.access, item.pk)
    delete_item(library, noted.note_id or uuid4())

    assert undo_all(agent).skipped == []

    assert shown(library, item) == [("Granite is old.", "")]


def test_what_a_token_marked_is_undone(library: Access, item: Item, mint: Mint) -> None:
    kept = mark(library, item, "Chalk is soft.")
    agent = mint()
    highlights.note_passage(agent.access, item.pk, Passage(quote="Granite is old."), "So old.")
    saved_searches.save_search(agent.access, "Stone", "q=stone")
    highlights.remove_highlight(agent.access, kept.pk)

    assert undo_all(agent).skipped == []

    assert shown(library, item) == [("Chalk is soft.", "")]
    assert Item.objects.count() == 1
    assert not SavedSearch.objects.exists()


# Notes ----------------------------------------------------------------------------------------


def test_a_note_is_an_item_that_a_search_finds_and_that_is_related(
    library: Access, item: Item
) -> None:
    noted = highlights.note_passage(
        library, item.pk, Passage(quote="Granite is old."), "Ask the geologist about this."
    )

    [hit, *_] = search(library, LibrarySearchRequest(query="ask the geologist")).hits

    assert hit.item.pk == noted.note_id
    assert hit.item.title == "Note on Stones of the coast"
    relation = Relation.objects.get()
    assert (relation.source_id, relation.target_id) == (noted.note_id, item.pk)


def test_a_note_can_be_written_anew_and_screened(library: Access, item: Item) -> None:
    noted = highlights.note_passage(library, item.pk, Passage(quote="Granite is old."), "First.")
    again = highlights.write_note(library, noted.pk, "Second.")
    assert again.note_id == noted.note_id
    assert shown(library, item) == [("Granite is old.", "Second.")]
    hits = search(library, LibrarySearchRequest(query="second", mode="keyword")).hits
    assert [hit.item.pk for hit in hits] == [noted.note_id]

    for words in (" ", SECRET):
        with pytest.raises(InvalidInput):
            highlights.write_note(library, noted.pk, words)
    assert shown(library, item) == [("Granite is old.", "Second.")]


def test_a_note_on_the_whole_item_is_listed_beside_those_on_passages(
    library: Access, item: Item
) -> None:
    highlights.note_passage(library, item.pk, Passage(quote="Granite is old."), "So old.")
    whole = highlights.note_item(library, item.pk, "Read this again.")

    marks = marks_of(library, get_item(library, item.pk))

    assert [note.pk for note in marks.notes] == [whole.pk]
    assert [each.note for each in marks.highlights] == ["So old."]


def test_marking_needs_a_text_and_the_right_to_write(
    library: Access, item: Item, mint: Mint
) -> None:
    with pytest.raises(CapabilityDenied):
        mark(mint(write=False).access, item, "Granite is old.")
    Content.objects.filter(pk=item.content_id).update(state="queued")
    with pytest.raises(Conflict):
        mark(library, item, "Granite is old.")


# Two people -----------------------------------------------------------------------------------


def test_nothing_of_it_is_anybody_elses(
    library: Access, item: Item, theirs: Access, folder, mint: Mint
) -> None:
    noted = highlights.note_passage(library, item.pk, Passage(quote="Granite is old."), "So old.")
    progress.save_progress(library, item.pk, 0.5)
    saved = saved_searches.save_search(library, "Stone", "q=stone")
    narrow = mint(folder("Other")).access
    for access in (theirs, narrow):
        assert marks_of(access, item).highlights == []
        assert marks_of(access, item).notes == []
        assert progress.progress_of(access, [item.pk]) == {}
        assert progress.unfinished_items(access) == []
        assert saved_searches.list_saved_searches(access) == []
        for ask in (
            lambda access: mark(access, item, "Granite is old."),
            lambda access: highlights.write_note(access, noted.pk, "Mine now."),
            lambda access: highlights.note_item(access, item.pk, "Mine now."),
            lambda access: highlights.remove_highlight(access, noted.pk),
            lambda access: progress.save_progress(access, item.pk, 1),
            lambda access: saved_searches.delete_saved_search(access, saved.pk),
        ):
            with pytest.raises(NotFound):
                ask(access)
    with pytest.raises(CapabilityDenied):
        saved_searches.save_search(narrow, "Stone", "q=stone")


def test_a_note_out_of_reach_is_not_told_with_its_highlight(
    library: Access, folder, mint: Mint, add: Add
) -> None:
    shelf = folder("Shelf")
    item = add("Granite", "Granite is old.", shelf)
    highlights.note_passage(library, item.pk, Passage(quote="Granite is old."), "Only mine.")
    narrow = mint(shelf).access

    assert shown(narrow, item) == [("Granite is old.", "")]
    [line] = lines(exported(narrow), "highlights.jsonl")
    assert "note_id" not in line


# Progress and searches -------------------------------------------------------------------------


def test_progress_is_where_the_reader_is_now(library: Access, item: Item, add: Add) -> None:
    other, read = add("Other"), add("Read")
    progress.save_progress(library, item.pk, 0.5)
    progress.save_progress(library, other.pk, 0.3)
    progress.save_progress(library, item.pk, 0.2)
    progress.save_progress(library, read.pk, 1.0)
    assert progress.progress_of(library, [item.pk, read.pk]) == {item.pk: 0.2, read.pk: 1.0}
    begun = progress.unfinished_items(library)
    assert [each.item.title for each in begun] == ["Stones of the coast", "Other"]
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidInput):
            progress.save_progress(library, item.pk, share)


def test_a_saved_search_is_an_address_without_its_page(library: Access) -> None:
    saved = saved_searches.save_search(
        library, " Old  stone ", "?q=old+stone&mode=&page=3&tag=a%26b"
    )
    assert (saved.name, saved.query) == ("Old stone", "q=old+stone&tag=a%26b")
    with pytest.raises(NameTaken):
        saved_searches.save_search(library, "old STONE", "q=x")
    for query in ("", "page=2", "mode=", "\x00"):
        with pytest.raises(InvalidInput):
            saved_searches.save_search(library, "Another", query)
    saved_searches.delete_saved_search(library, saved.pk)
    assert saved_searches.list_saved_searches(library) == []


# Export and import ----------------------------------------------------------------------------


def test_all_of_it_comes_back_by_an_import_to_the_same_bytes(
    library: Access, item: Item, folder
) -> None:
    User.objects.update(is_superuser=True)  # whose rows keep their ids
    shelf = folder("Shelf")
    highlights.note_passage(library, item.pk, Passage(quote="Granite is old."), "So old.")
    highlights.highlight_passage(library, item.pk, Passage(quote="Chalk is soft."), colour="green")
    progress.save_progress(library, item.pk, 0.25)
    saved_searches.save_search(library, "Stone", f"q=stone&folder={shelf.pk}")
    archive = exported(library)
    wipe(library)
    SavedSearch.objects.all().delete()

    report = imported(library, archive)

    assert (report.highlights, report.saved_searches, report.failed) == (2, 1, 0)
    assert exported(library) == archive
    assert shown(library, item) == [("Chalk is soft.", ""), ("Granite is old.", "So old.")]
    again = imported(library, archive)
    assert (again.highlights, again.saved_searches, again.failed) == (0, 0, 0)


def test_another_owner_gets_their_own_copy_with_their_own_folder(
    library: Access, item: Item, theirs: Access, folder
) -> None:
    shelf = folder("Shelf")
    highlights.note_passage(library, item.pk, Passage(quote="Granite is old."), "So old.")
    saved_searches.save_search(library, "Stone", f"folder={shelf.pk}")

    report = imported(theirs, exported(library))

    assert (report.highlights, report.saved_searches, report.failed) == (1, 1, 0)
    mine, copy = Highlight.objects.order_by("created_at", "owner_id")
    assert {mine.owner_id, copy.owner_id} == {library.owner_id, theirs.owner_id}
    for highlight in (mine, copy):
        assert highlight.note is not None
        assert highlight.note.owner_id == highlight.item.owner_id == highlight.owner_id
    [search_of_theirs] = saved_searches.list_saved_searches(theirs)
    assert str(shelf.pk) not in search_of_theirs.query


def test_lines_that_lead_nowhere_are_left_out_with_their_reason(
    library: Access, item: Item
) -> None:
    mark(library, item, "Granite is old.")
    progress.save_progress(library, item.pk, 0.25)
    saved_searches.save_search(library, "Stone", "q=stone")
    archive = exported(library)
    archive = with_lines(
        archive,
        "highlights.jsonl",
        lambda found: [
            {**found[0], "item_id": str(uuid4()), "id": str(uuid4())},
            {**found[0], "end": 0, "id": str(uuid4())},
            {**found[0], "colour": "<script>", "id": str(uuid4())},
        ],
    )
    archive = with_lines(
        archive, "progress.jsonl", lambda found: [{**found[0], "item_id": str(uuid4())}]
    )
    archive = with_lines(
        archive,
        "saved_searches.jsonl",
        lambda found: [{**found[0], "name": "Empty", "query": "page=1", "id": str(uuid4())}],
    )

    report = imported(library, archive)

    assert (report.highlights, report.saved_searches, report.failed) == (0, 0, 5)
    assert {problem.file for problem in report.problems} == {
        *("highlights.jsonl", "progress.jsonl", "saved_searches.jsonl")
    }
