import pytest

from knowledge.validation import make_storable, storage_faults


@pytest.mark.parametrize("text", ["", "plain", "Grüße 🪨", "line\nline"])
def test_ordinary_text_can_be_stored_as_it_is(text: str) -> None:
    assert list(storage_faults(text)) == []
    assert make_storable(text) == text


@pytest.mark.parametrize("text", ["a\x00b", "half a pair \ud800", "\x00\udfff"])
def test_what_postgres_refuses_is_named_and_can_be_replaced_character_for_character(
    text: str,
) -> None:
    assert list(storage_faults(text))
    assert not list(storage_faults(make_storable(text)))
    assert len(make_storable(text)) == len(text)
