import re

from hypothesis import given
from hypothesis import strategies as st

from tokens.secrets import digest, is_well_formed, new_secret


def test_a_secret_has_its_shape_and_is_never_the_same() -> None:
    secrets = {new_secret() for _ in range(1000)}
    assert len(secrets) == 1000
    assert all(re.fullmatch(r"qry_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}", secret) for secret in secrets)
    assert all(is_well_formed(secret) for secret in secrets)


@given(position=st.integers(0, 52), letter=st.characters(codec="ascii"))
def test_one_wrong_letter_fails_the_checksum(position: int, letter: str) -> None:
    secret = new_secret()
    wrong = secret[:position] + letter + secret[position + 1 :]
    assert is_well_formed(wrong) is (wrong == secret)


@given(st.text())
def test_other_text_is_no_secret(text: str) -> None:
    assert not is_well_formed(text)


def test_the_digest_is_not_the_secret() -> None:
    secret = new_secret()
    assert len(digest(secret)) == 64
    assert secret[4:] not in digest(secret)
