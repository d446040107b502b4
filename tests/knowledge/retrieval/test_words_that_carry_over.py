"""Rules of keyword search that no collection was tuned for: long questions, stop words, scopes."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.models import Content, Folder, Item, LibrarySize
from knowledge.retrieval.heaviest_terms import MOST_TERMS
from knowledge.retrieval.query_words import read_query
from tests.support.library import LONG_ENOUGH, Add, Mint
from tests.support.packing import pack
from tests.support.searching import search

MODES = ["semantic", "keyword", "hybrid"]
GRANITE = "Granite cools slowly under the ground, and its crystals of feldspar grow large. "
OTHERS = {
    "Bread": "Dough is kneaded, rests under a cloth, and is baked in a hot oven until brown. ",
    "Ships": "The harbour keeps its lights on while the ships come home and men die in the war. ",
    "Index": "The error ERR_SEGMENT_42 means that packed words differ from their tsvectors. ",
}
GERMAN = "Die Lichter im Hafen und der Granit der Berge waren, was man in der Ferne sah. "
LONG = " ".join(
    f"On page {n} of her notes the traveller asks, as the ships of chapter {n * 7} pass, why rock "
    f"that froze {n} miles below ground grew such large feldspars where granite had been slow."
    for n in range(1, 80)
)
QUESTIONS = [
    (LONG[:2_000], "Granite"),
    (LONG[:9_000], "Granite"),
    (LONG[:10_000], "Granite"),
    ('Who said that "its crystals grow" in granite, slowly?', "Granite"),
    ('Is "a hot oven" what one needs, or "a cloth"?', "Bread"),
    ("ERR_SEGMENT_42", "Index"),
]


@pytest.fixture
def shelf(library: Access, add: Add, settings: Settings) -> Access:
    settings.QUARRY_EMBEDDER = "universal"  # it reads what the tests' own embedder does not
    add("Granite", GRANITE)
    for title, text in OTHERS.items():
        add(title, text)
    return library


@pytest.mark.parametrize("is_packed", [False, True])
def test_every_kind_of_question_finds_the_text_made_for_it_in_all_modes(
    shelf: Access, is_packed: bool
) -> None:
    if is_packed:
        pack(shelf.owner_id)
    missed = [
        (mode, question[:80], len(question))
        for mode in MODES
        for question, title in QUESTIONS
        if search(shelf, query=question, mode=mode).hits[0].item.title != title
    ]
    assert missed == []


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


def test_an_item_that_speaks_of_it_more_than_once_comes_first(library: Access, add: Add) -> None:
    filler = "The weather in the valley was mild, and nothing else happened there all day. " * 14
    parts = [f"## Part {number}\n\n{filler}" for number in range(3)]
    add("Once", "\n\n".join([f"{parts[0]} It was granite.", *parts[1:]]))
    add("Always", "\n\n".join(f"{part} It was granite." for part in parts))
    add("Never", "\n\n".join(parts))
    hits = search(library, query="granite", mode="keyword", fold=False).hits
    assert [hit.item.title for hit in hits] == [*["Always"] * 3, "Once"]
    assert hits[2].keyword.score > 0.9 > hits[3].keyword.score


def test_letters_of_a_compound_are_not_asked_for_by_themselves(library: Access, add: Add) -> None:
    add("Letters", "The axes are called x and g, and the vector is called e.")
    add("Picture", "An x-ray was taken of the left hand.")
    hits = search(library, query="an x-ray, e.g. of a hand", mode="keyword").hits
    assert [hit.item.title for hit in hits] == ["Picture"]
    assert search(library, query="axes x", mode="keyword").hits[0].item.title == "Letters"


def test_of_a_long_question_the_best_by_word_counts_in_full(library: Access, add: Add) -> None:
    asked = "who said in which year that of all stones in the north granite, basalt and gneiss last"
    for number, word in enumerate(asked.replace(",", "").split()):
        add(f"Word {number}", f"{word} is a word, and {word} is told twice.")
    add("Stones", "Granite, basalt, gneiss. " * 4)
    hits = search(library, query=asked).hits
    assert next(hit for hit in hits if hit.item.title == "Stones").keyword.score == 1


def test_what_is_added_out_of_reach_changes_no_answer(
    shelf: Access, stranger: User, mint: Mint, folder: Callable[[str], Folder], add: Add
) -> None:
    """Neither in a library nor in a folder, by any plan, in whatever language it is written."""
    tokens = [shelf]
    for titles in (("Granite", "Ships"), ("Bread", "Index")):
        own = folder(" and ".join(titles))
        tokens.append(mint(own).access)
        for item in Item.objects.filter(content__title__in=titles):
            item.folders.add(own)
    theirs = Access.whole_library(stranger.pk)
    for is_packed in (False, True):
        pack_all(shelf, theirs, is_packed=is_packed)
        before = [answers(access) for access in tokens]
        for text in ("granite lights harbour error " * 20, GERMAN * 3):
            add_text(theirs, title="Theirs", text=text + LONG_ENOUGH)
        pack_all(shelf, theirs, is_packed=is_packed)
        assert [answers(access) for access in tokens] == before
        for n in range(25):  # with these, each folder is read from its tsvectors alone
            text = f"{n} {GERMAN * 3}" if n % 2 else f"granite oven {n}{LONG_ENOUGH} " * 5
            add_text(shelf, title=f"Elsewhere {n}", text=text)
        pack_all(shelf, theirs, is_packed=is_packed)
        assert [answers(access) for access in tokens[1:]] == before[1:]
        assert answers(shelf) != before[0]
        assert set(LibrarySize.objects.get(pk=shelf.owner_id).languages) == {"de", "en"}


def pack_all(*libraries: Access, is_packed: bool) -> None:
    for each in libraries if is_packed else ():
        pack(each.owner_id)


def answers(access: Access) -> list[tuple[str | None, list[tuple[str, float, float]]]]:
    """What a caller is told in all modes: who is found, in which order, and with what scores."""
    found = []
    for mode in MODES:
        for query in (
            "granite harbour oven",
            "granite die man war",
            "granite lich* err*",
            '"a cloth"',
        ):
            answer = search(access, query=query, mode=mode)
            hits = [
                (hit.item.title, round(hit.score, 9), round(hit.keyword.score, 9))
                for hit in answer.hits
            ]
            found.append((answer.degraded, hits))
    return found


def test_thai_and_arabic_are_found_by_their_words(library: Access) -> None:
    thai = "ประเทศไทยมีเมืองหลวงชื่อกรุงเทพมหานคร ตั้งอยู่ริมแม่น้ำเจ้าพระยา"
    arabic = "عاصمة مصر هي القاهرة وتقع على ضفاف نهر النيل"
    add_text(library, title="Thai", text=thai)
    add_text(library, title="Arabic", text=arabic)
    assert set(Content.objects.values_list("language", flat=True)) == {"th", "ar"}
    assert search(library, query="เมืองหลวง", mode="keyword").hits[0].item.title == "Thai"
    assert search(library, query="القاهرة", mode="keyword").hits[0].item.title == "Arabic"
