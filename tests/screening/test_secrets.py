"""Secrets by their kind, and the values of the same look that are nobody's secret."""

import pytest

from knowledge.screening import screen
from tests.screening.secrets_for_tests import BESIDE_THEIR_NAME, CODES, KEYS, noise

HEX = "0123456789abcdef"
OPAQUE = noise(30) + "7"


def short(text: str) -> str:
    return text[:32]


@pytest.mark.parametrize("text", BESIDE_THEIR_NAME, ids=short)
def test_a_password_needs_no_sign_between_it_and_its_name(text: str):
    assert [finding.rule for finding in screen(text).secrets][:1] == ["told_password"]


@pytest.mark.parametrize("text", CODES, ids=short)
def test_a_code_that_opens_something_is_a_secret(text: str):
    assert screen(text).secrets


@pytest.mark.parametrize("text", KEYS, ids=short)
def test_a_key_is_found_wherever_it_is_written(text: str):
    assert screen(text).secrets


@pytest.mark.parametrize(
    "text",
    [
        "RFC 6749, section 5.1, has this sample answer: {'access_token': '" + OPAQUE + "'}.",
        "The RFC on bearer tokens prints Authorization: Bearer " + OPAQUE + ".",
        "For tests the vendor publishes a secret that always passes: " + OPAQUE + ".",
        "Use the key 0x" + noise(64, HEX) + " from the test vectors.",
        "The zero vector of BIP-39: " + "abandon " * 11 + "about.",
    ],
    ids=short,
)
def test_a_published_sample_is_no_secret(text: str):
    assert not screen(text).secrets


def test_a_standard_that_is_only_followed_excuses_nothing():
    text = f"We follow RFC 6750 to the letter.\n\nAuthorization: Bearer {OPAQUE}"
    assert screen(text).secrets


@pytest.mark.parametrize(
    "text",
    [
        "The password is read from arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-a1B2c3.",
        "secret: projects/123/secrets/db-pass/versions/4",
        "senha = cofre.obter('loja/pagamentos')",
        'O script lê a senha do cofre: `senha = cofre.obter("loja/pagamentos")`.',
        'Decrypt with the password you got: `qpdf --password="$PW" --decrypt in.pdf out.pdf`.',
        'signingKey = []byte(os.Getenv("SIGNING_KEY"))',
        "Authorization: SSWS ${OKTA_TOKEN}",
        "kind: SealedSecret\nspec:\n  encryptedData:\n    password: Ag" + noise(120),
        "| Secret | Used by |\n|---|---|\n| `SIGNING_KEY_BASE64` | release job |",
        "S3 key: logs/2024/05/01/host-a1b2c3d4e5f6/part-0001.gz",
    ],
    ids=short,
)
def test_what_points_to_a_secret_or_seals_it_is_none(text: str):
    assert not screen(text).secrets


@pytest.mark.parametrize(
    "text",
    [
        "Public key: RWQ" + noise(53),
        "The public key of the release is " + OPAQUE + ".",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + noise(43) + " ada@laptop",
        "sha256 key digest: " + noise(64, HEX),
        "const applicationServerKey = 'B" + noise(86) + "'; // the public half",
        "repo.checkout('main', '" + noise(40, HEX) + "')",
        "Contract address 0x" + noise(40, HEX) + ", transaction 0x" + noise(64, HEX),
    ],
    ids=short,
)
def test_what_everybody_may_know_is_no_secret(text: str):
    assert not screen(text).secrets


@pytest.mark.parametrize(
    "text",
    [
        "Error code 4041 means the door sensor is offline.",
        "The alarm panel shows code 2211 when the battery is low.",
        "Set a PIN of 4 to 8 digits. The default PIN is 0000.",
        "The gate opens at 0800 and closes at 1700.",
        "The safe was made in 1932 and weighs 4500 kg.",
        "Le code postal est 75011, deuxième porte à gauche.",
        "Our building code 2018 edition requires fire doors.",
        "The lock was replaced on 12-05-24 and works with all keys.",
        "| Status | Code |\n|---|---|\n| Not found | 404 |\n| Teapot | 418 |",
        "Password manager: Bitwarden 2024.1 or KeePassXC 2.7.",
        "The password must contain a capital letter, the digits 0 to 9 and an underscore.",
        "Wi-Fi: 802.11ax, WPA3-Enterprise, channel 36/80MHz",
        "Wallet design: 1. leather 2. zipper 3. lining",
        "App password policy: each must have four groups with some text.",
    ],
    ids=short,
)
def test_numbers_and_talk_near_a_lock_or_a_password_are_no_secret(text: str):
    assert not screen(text).secrets


def test_a_secret_sample_shows_only_its_own_paragraph():
    text = f"The spec shows a header.\n\nOurs: Authorization: Bearer {OPAQUE}"
    assert screen(text).secrets
