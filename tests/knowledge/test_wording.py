"""The keyword rows are what Postgres itself would have made of the same words."""

from uuid import uuid4

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from knowledge.wording import tsvectors, write_words
from knowledge.words import LONGEST_WORD, identifiers, plain

TEXTS = {
    "english": "The runners were running past 3 old houses in v1.2.3, and the Runner's café "
    "at 12ab 1e5 0x7f ab12 naïve Ångström 5kg don't foo_bar.baz() /api/v1/items ECONNRESET -32605",
    "german": "Die Häuser an der Straße wurden größer; ÜBER 20 Mädchen liefen schneller.",
    "french": "L'été dernier, les élèves étudiaient à l'université où naïvement ils couraient.",
    "russian": "Бегущие люди бежали мимо старых домов и читали интересные книги.",
    "simple": "می‌خواهم کتاب‌ها را بخوانم हिन्दी में लिखा हुआ 私は学生です 한국어 문장 🙂 emoji",
}
_THEIRS = """
    SELECT stems || array_to_tsvector(%s::text[]) = %s::tsvector,
        (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(stems)),
        stems || array_to_tsvector(%s::text[])
    FROM to_tsvector(%s::regconfig, %s) AS stems
"""


def assert_same_as_postgres(text: str, configuration: str) -> None:
    words = plain(text).lower().split()
    written = sorted({word for word in words if len(word) <= LONGEST_WORD} | set(identifiers(text)))
    [(ours, length)] = tsvectors(configuration, [(words, identifiers(text))])
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE IF NOT EXISTS received (tsv tsvector) ON COMMIT DROP")
        with cursor.copy("COPY received FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["bytea"])
            copy.write_row((ours,))
        cursor.execute("SELECT tsv::text FROM received")
        received = cursor.fetchone()[0]
        cursor.execute("DELETE FROM received")
        cursor.execute(_THEIRS, [written, received, written, configuration, " ".join(words)])
        is_same, their_length, theirs = cursor.fetchone()
    assert is_same, (received, theirs)
    assert length == their_length


@pytest.mark.django_db
@pytest.mark.parametrize("configuration", TEXTS)
def test_rows_are_what_postgres_would_make_of_the_same_words(configuration: str) -> None:
    assert_same_as_postgres(TEXTS[configuration], configuration)
    assert_same_as_postgres(TEXTS[configuration] * 40, configuration)


@pytest.mark.django_db
def test_any_text_gives_what_postgres_would_make_of_it() -> None:
    # Postgres' parser splits words at some rare characters with a state that spans them.
    alphabet = st.characters(codec="utf-8", categories=("L", "N", "P", "Z", "S"))

    @given(st.text(alphabet, max_size=60))
    def holds(text: str) -> None:
        assert_same_as_postgres(text, "english")

    holds()


@pytest.mark.django_db
def test_a_very_long_word_is_left_out_and_loses_nothing_else() -> None:
    assert_same_as_postgres("before " + "x" * 3_000 + " after", "english")


@pytest.mark.django_db
def test_nothing_to_write_is_nothing_written() -> None:
    write_words(1, uuid4(), "english", [])
