"""Rules of keyword search that no collection was tuned for: long questions, stop words, scopes."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.models import Content, Folder, Item
from knowledge.retrieval.heaviest_terms import MOST_TERMS
from knowledge.retrieval.query_words import read_query
from tests.support.library import LONG_ENOUGH, Add
from tests.support.packing import pack
from tests.support.searching import search

MODES = ["semantic", "keyword", "hybrid"]
GRANITE = "Granite cools slowly under the ground, and its crystals of feldspar grow large. "
OTHERS = {
    "Bread": "Dough is kneaded, rests under a cloth, and is baked in a hot oven until brown. ",
    "Ships": "The harbour keeps its lights on while the ships come home through the fog. ",
    "Index": "The error ERR_SEGMENT_42 means that packed words differ from their tsvectors. ",
}


@pytest.fixture
def shelf(library: Access, add: Add) -> Access:
    add("Granite", GRANITE)
    for title, text in OTHERS.items():
        add(title, text)
    return library


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("question", "title"),
    [
        pytest.param((GRANITE * 30)[:2_000], "Granite", id="2,000 characters"),
        pytest.param((GRANITE * 120)[:9_000], "Granite", id="9,000 characters"),
        pytest.param(
            'Who said that "its crystals grow" in granite, slowly?', "Granite", id="quote"
        ),
        pytest.param("ERR_SEGMENT_42", "Index", id="identifier"),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_every_kind_of_question_finds_the_text_made_for_it(
    shelf: Access, mode: str, question: str, title: str, is_packed: bool
) -> None:
    if is_packed:
        pack(shelf.owner_id)
    if mode == "semantic" and title == "Index":
        pytest.skip("the tests' embedder knows no identifiers")
    assert search(shelf, query=question, mode=mode).hits[0].item.title == title


@pytest.mark.parametrize("is_packed", [False, True])
def test_of_very_many_words_the_heaviest_count(library: Access, add: Add, is_packed: bool) -> None:
    common = [f"common{number}" for number in range(3 * MOST_TERMS)]
    for number in range(6):
        add(f"Common {number}", " ".join(common))
    add("Needle", "The zyzzyva is a weevil.")
    if is_packed:
        pack(library.owner_id)
    found = search(library, query=" ".join([*common, "zyzzyva"]), mode="keyword", explain=True)
    needle = next(hit for hit in found.hits if hit.item.title == "Needle")
    assert needle.explanation is not None
    assert needle.explanation.matched_terms == ["zyzzyva"]


def test_a_word_that_is_asked_twice_counts_twice(library: Access, add: Add) -> None:
    add("One", "granite stands here")
    add("Two", "basalt stands here")
    assert search(library, query="granite basalt basalt", mode="keyword").hits[0].item.title == (
        "Two"
    )
    assert search(library, query="granite granite basalt", mode="keyword").hits[0].item.title == (
        "One"
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("question", "spoken"),
    [
        ("what is the price of granite", ["price", "granite"]),
        ("wie hoch ist der Preis für die Häuser", ["hoch", "preis", "häuser"]),
        ("le prix de la maison est dans une ville", ["prix", "maison", "ville"]),
        ("granite", ["granite"]),
    ],
)
def test_stop_words_of_the_questions_own_language_are_dropped(
    question: str, spoken: list[str]
) -> None:
    configurations = ("english", "french", "german", "simple")  # the last has no stop words
    assert read_query(question, configurations).spoken == spoken


def test_what_is_added_out_of_reach_changes_no_score(shelf: Access, stranger: User) -> None:
    """Neither in a library nor in a folder, whether words are packed or fresh."""
    mine = Folder.objects.create(owner_id=shelf.owner_id, name="Mine")
    for item in Item.objects.filter(content__title__in=["Granite", "Ships"]):
        item.folders.add(mine)
    scoped = replace(shelf, folder_ids=frozenset({mine.pk}))
    theirs = Access.whole_library(stranger.pk)

    def scores(access: Access) -> list[tuple[str, float]]:
        return [
            (hit.item.title, round(hit.score, 12))
            for mode in ("keyword", "hybrid")
            for query in ("granite harbour lights", "crystals of the harbour", "granite lich*")
            for hit in search(access, query=query, mode=mode).hits
        ]

    for is_packed in (False, True):
        if is_packed:
            pack(shelf.owner_id)
        library_before, folder_before = scores(shelf), scores(scoped)
        for language in ("granite lights " * 20, "Die Lichter im Hafen und der Granit der Berge. "):
            add_text(theirs, title="Theirs", text=language * 3 + LONG_ENOUGH)
        assert scores(shelf) == library_before
        add_text(shelf, title="Elsewhere", text="granite harbour lights " * 9 + LONG_ENOUGH)
        assert scores(scoped) == folder_before


def test_thai_and_arabic_are_found_by_their_words(library: Access) -> None:
    thai = "ประเทศไทยมีเมืองหลวงชื่อกรุงเทพมหานคร ตั้งอยู่ริมแม่น้ำเจ้าพระยา"
    arabic = "عاصمة مصر هي القاهرة وتقع على ضفاف نهر النيل"
    add_text(library, title="Thai", text=thai)
    add_text(library, title="Arabic", text=arabic)
    assert set(Content.objects.values_list("language", flat=True)) == {"th", "ar"}
    assert search(library, query="เมืองหลวง", mode="keyword").hits[0].item.title == "Thai"
    assert search(library, query="القاهرة", mode="keyword").hits[0].item.title == "Arabic"
