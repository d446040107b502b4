"""The keyword rows are what Postgres itself would have made of the same words."""

from random import choices
from string import ascii_lowercase
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from hypothesis import given
from hypothesis import strategies as st

from knowledge.indexing import dictionary, keyword_rows
from knowledge.indexing.binary_rows import Keys
from knowledge.indexing.keyword_rows import word_rows, write_words
from knowledge.text.words import LONGEST_WORD, identifiers, plain

TEXTS = {
    "english": "The runners were running past 3 old houses in v1.2.3, and the Runner's café "
    "at 12ab 1e5 0x7f ab12 naïve Ångström 5kg don't foo_bar.baz() /api/v1/items ECONNRESET -32605",
    "german": "Die Häuser an der Straße wurden größer; ÜBER 20 Mädchen liefen schneller.",
    "french": "L'été dernier, les élèves étudiaient à l'université où naïvement ils couraient.",
    "russian": "Бегущие люди бежали мимо старых домов и читали интересные книги.",
    "simple": "می‌خواهم کتاب‌ها را بخوانم हिन्दी में लिखा हुआ 私は学生です 한국어 문장 🙂 emoji",
}
_WRITTEN = "SELECT tsv::text, length FROM knowledge_chunktext WHERE item_id = %s ORDER BY chunk_id"
_THEIRS = """
    SELECT (stems || array_to_tsvector(%s::text[]))::text,
        (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(stems))
    FROM to_tsvector(%s::regconfig, %s) AS stems
"""


def written(texts: list[str], configuration: str) -> list[tuple[str, int]]:
    item_id = uuid4()
    write_words(Keys(range(len(texts)), 1, item_id), word_rows(configuration, texts))
    with connection.cursor() as cursor:
        cursor.execute(_WRITTEN, [item_id])
        rows: list[tuple[str, int]] = cursor.fetchall()
        cursor.execute("DELETE FROM knowledge_chunktext WHERE item_id = %s", [item_id])
    return rows


def by_postgres(text: str, configuration: str) -> tuple[str, int]:
    """Of the whole text at once, which is never taken apart at its blanks."""
    words = plain(text).lower().split()
    as_written = {word for word in words if len(word) <= LONGEST_WORD} | set(identifiers(text))
    with connection.cursor() as cursor:
        cursor.execute(_THEIRS, [sorted(as_written), configuration, " ".join(words)])
        row: tuple[str, int] = cursor.fetchone()
    return row


def assert_same_as_postgres(texts: list[str], configuration: str) -> None:
    theirs = [by_postgres(text, configuration) for text in texts]
    assert written(texts, configuration) == theirs
    # Once more, when every word is known.
    assert written(texts, configuration) == theirs


@pytest.mark.django_db
@pytest.mark.parametrize("configuration", TEXTS)
def test_rows_are_what_postgres_would_make_of_the_same_words(configuration: str) -> None:
    text = TEXTS[configuration]
    assert_same_as_postgres([text, "", text * 40, "  ", text], configuration)


@pytest.mark.django_db
def test_any_text_gives_what_postgres_would_make_of_it() -> None:
    # Postgres' parser splits words at some rare characters with a state that spans them.
    alphabet = st.characters(codec="utf-8", categories=("L", "N", "P", "Z", "S"))

    @given(st.text(alphabet, max_size=60))
    def holds(text: str) -> None:
        assert_same_as_postgres([text, "between", text], "english")

    holds()


@pytest.mark.django_db
@pytest.mark.parametrize("configuration", ["english", "german", "simple"])
@pytest.mark.parametrize(
    "text",
    [
        "fooBar.bazQux HTTPServer2Go getHTTPResponse ABCdef, (camelCase) camelCase; camelcase",
        "私は学生です。東京タワー、京都大学 学生\u3000学生 カタカナ・テスト 한국어学生abc漢字",
        "ΟΔΟΣ ΟΔΟΣ. ΟΔΥΣΣΕΥΣ, Σ ΑΣ.Α ΑΣ'Α ΑΣ\u200dΑ ΑΣ\x85ΣΑ \u0130stanbul STRAẞE ǅungla",
        "a\x1cb\x1db\x1ec\x1fd\x85e\xa0f\u1680g\u2028h\u2029i\u202fj\u205fk\u3000l\u200bm\ufeffn",
        "می‌خواهم کتاب‌ها क्षत्रिय हिन्दी‍में ﬁne ﬀ ª º µ ² ½ ① Ⅷ ⅷ ៣ ٣٤ x² 5€",
        "0 00012 3 3.14 1e5 0x7f 12ab ab12 -32605 v1.2.3 10/12/2024 1,000,000 9" + "9" * 120,
        "foo_bar.baz() /api/v1/items a@b.example.org http://x.example/y?z=1#k c++ C# ~/.ssh $HOME",
        "'quoted' \\back\\slash don't rock'n'roll it''s 'tis \"a\":1 'b':2 {c} [d] <e> f|g &h; %s",
        "the and of THE And, to be or not: running runs Runner's run run, run. run! RUN",
    ],
)
def test_odd_texts_give_what_postgres_would_make_of_them(text: str, configuration: str) -> None:
    assert_same_as_postgres([text, text.upper(), text.replace(" ", "\n\u3000")], configuration)


@pytest.mark.django_db
def test_places_beyond_what_postgres_keeps_are_left_out() -> None:
    text = "often " * 300 + " ".join(f"w{n}x" for n in range(17_000)) + " late often often"
    [(vector, length)] = written([text], "english")
    assert vector == by_postgres(text, "english")[0]
    assert length == 301 + 17_000 + 1  # both at the end stand at the last place there is


@pytest.mark.django_db
def test_a_very_long_word_is_left_out_and_loses_nothing_else() -> None:
    assert_same_as_postgres(["before " + "x" * 3_000 + " after"], "english")


@pytest.mark.django_db
def test_nothing_to_write_is_nothing_written() -> None:
    assert written([], "english") == []


@pytest.mark.django_db
@pytest.mark.parametrize("failing", ["to_tsvector", "ts_parse"])
def test_words_whose_stems_were_not_answered_are_asked_for_again(failing: str) -> None:
    token = "".join(choices(ascii_lowercase, k=12))
    texts = [f"{token}s, 7{token}-x1y {token}ing and {token}.{token}"]

    def fail(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if failing in sql:
            raise OperationalError("gone")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fail), pytest.raises(OperationalError):
        written(texts, "english")
    assert_same_as_postgres(texts, "english")


@pytest.mark.django_db
@pytest.mark.parametrize("bound", ["_MOST_LEXEMES", "_MOST_TOKENS", "_MOST_CHARACTERS"])
def test_a_full_dictionary_is_begun_anew(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary, bound, 3)
    keyword_rows.empty_dictionaries()
    for text in ("Many words are met here.", "And others, after these."):
        word_rows("english", [text])
        assert len(keyword_rows._dictionaries["english"]._tokens) == len(text.split())
