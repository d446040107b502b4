import pytest

from knowledge.text.question_language import script_of, unknown_language

ENGLISH = frozenset({"en"})


@pytest.mark.parametrize(
    ("question", "in_library", "language"),
    [
        ("Where is granite quarried?", {"en"}, ""),
        ("Where is granite quarried?", {"en", "de", "fr", "tr"}, ""),
        ("nginx reverse proxy", {"en", "de"}, ""),
        ("Wo wird in dieser Gegend Granit abgebaut?", {"en", "de"}, "de"),
        ("Wo wird in dieser Gegend Granit abgebaut?", {"en"}, ""),
        ("Bu bölgede granit nerede çıkarılıyor?", {"tr"}, "tr"),
        ("Где добывают гранит?", {"en"}, "ru"),
        ("Де видобувають граніт?", {"en", "uk"}, "uk"),
        ("как настроить nginx reverse proxy", {"ru"}, "ru"),
        ("what does 数据 mean", {"zh"}, ""),
        ("花岗岩在哪里开采?", {"zh"}, "zh"),
        ("花崗岩はどこで採れますか", {"en"}, "ja"),
        ("화강암은 어디에서 나나요?", {"ko"}, "ko"),
        ("أين يستخرج الجرانيت؟", {"ar"}, "ar"),
        ("กรานิต", set(), "th"),
        ("ᏣᎳᎩ", {"en"}, "cherokee"),
        ("42 == 6 * 7", {"de"}, ""),
        ("", {"de"}, ""),
    ],
)
def test_a_question_is_in_an_unknown_language_only_where_that_is_sure(
    question, in_library, language
):
    assert unknown_language(question, ENGLISH, in_library) == language


def test_what_the_embedder_knows_is_not_unknown():
    known = frozenset({"en", "ru", "ar", "zh"})
    assert unknown_language("Где добывают гранит?", known, {"ru"}) == ""
    assert unknown_language("Де видобувають граніт?", known, {"uk"}) == "uk"
    assert unknown_language("花岗岩在哪里开采?", known, set()) == ""
    assert unknown_language("سنگ گرانیت از کجاست؟", known, {"fa"}) == "fa"


def test_names_in_latin_letters_do_not_make_a_question_latin():
    assert script_of("как собрать Docker image") == "CYRILLIC"
    assert script_of("the word гранит in a long English question") == "LATIN"
