"""Passwords that stand near the word for one, though nothing joins the two."""

import pytest

from knowledge.screening import screen

TOLD = {
    "a sentence later": "They changed the password last night. Now it is Marzipan88Oven, I hear.",
    "in an answer": "> what was the password of the archive?\n\nIt was Lavendel2019Regen, sorry.",
    "behind an arrow": "The password for the portal is my usual one with the year → Brioche2026.",
    "in Czech": "Heslo do skladu jsem změnil, teď je PosledniVlak7. Díky!",
    "in Spanish": "La contraseña del archivo cambió ayer; ahora es Canela-Fina-31 para todos.",
    "in Ukrainian": "Пароль до пошти новий. Тепер він такий: Vyshnia_Stara8.",
    "of two words": "Laskujen salasana on nyt Lumikenkä-Korpisuo, tunnus toimisto.",
    "of digits": "The annex opens with our anniversary, password 83190427 as before.",
    "on its own line": "observation: two lines, user and password\ndepot\nHerbstwald.Rechen4",
    "of a disk": 'The stick is encrypted with LUKS; type "green tea no. 9 please" when it asks.',
    "of an app": 'server.login("mail@school.example", "qzrt mnhv plbk wexd")',
    "of a technician": "The technician code for the boiler is 52907, then press enter.",
}
HARMLESS = (
    "The password policy changed last night. The new machine is Windows11.",
    "Ask Ada for the password. The ticket is OPS-20419 and the branch is fix/login-2.",
    "The password is kept in the vault. The user is Deploy-Bot7 and the host is Web-Prod-03.",
    "Passwords are hashed now; the algorithm is Argon2id-v19 with a salt for each.",
    "The password dialog broke in Firefox128. Next release is Aurora-2026.",
    "Your password expires in 90 days. The form number is 20419377 on paper.",
    "Enter the password:\nhttps://intranet.example/reset\nThen press the button.",
    "Password rules are the work of Anna-Maria and of the Two-Factor team.",
)


@pytest.mark.parametrize("text", TOLD.values(), ids=TOLD.keys())
def test_a_password_near_its_name_is_found(text: str) -> None:
    assert screen(text).secrets


@pytest.mark.parametrize("text", HARMLESS, ids=lambda text: text[:24])
def test_what_else_is_told_near_the_word_is_none(text: str) -> None:
    assert not screen(text).secrets
