"""Secrets by their kind, and the values of the same look that are nobody's secret."""

import pytest

from knowledge.screening import screen
from tests.screening.secrets_for_tests import (
    BESIDE_THEIR_NAME,
    CODES,
    COMMANDS,
    KEYS,
    LOCKS,
    SETTINGS,
    TOLD,
    VENDORS,
    noise,
)

HEX = "0123456789abcdef"
OPAQUE = noise(30) + "7"


def short(text: str) -> str:
    return text[:32]


@pytest.mark.parametrize("text", BESIDE_THEIR_NAME, ids=short)
def test_a_password_needs_no_sign_between_it_and_its_name(text: str):
    assert [finding.rule for finding in screen(text).secrets][:1] == ["told_password"]


@pytest.mark.parametrize("text", TOLD, ids=short)
def test_a_password_is_found_however_it_is_told(text: str):
    assert screen(text).secrets


@pytest.mark.parametrize("token", VENDORS, ids=lambda token: token[:12])
def test_a_vendors_token_needs_no_word_beside_it(token: str):
    assert screen(f"The job uses {token} for now.").secrets


@pytest.mark.parametrize("text", COMMANDS, ids=short)
def test_a_command_keeps_no_password_to_itself(text: str):
    assert screen(text).secrets


@pytest.mark.parametrize("text", SETTINGS, ids=short)
def test_a_setting_needs_no_equals_sign(text: str):
    assert screen(text).secrets


@pytest.mark.parametrize("text", [*CODES, *LOCKS], ids=short)
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


def test_a_sample_beside_the_real_value_excuses_nothing():
    text = "Put the sample id of the manual in the form; the real value is secret_access_key: "
    assert screen(text + noise(40)).secrets


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


@pytest.mark.parametrize(
    "text",
    [
        "keytool -list -keystore k.jks -storepass changeit",
        'keytool -importkeystore -srcstorepass "$OLD" -deststorepass "$NEW"',
        "plink -ssh backup@10.0.4.8 -pw %PLINK_PW% 'df -h'",
        "docker run -d -p 8080:80 -e TZ=Europe/Berlin nginx:1.25",
        "unzip -p Archive_2024.zip | head",
        "nmap -p 22,80,443 10.0.0.0/24 -oN Scan_2024.txt",
        "sqlplus user/password@//host:1521/service",
        "uses: actions/checkout@v4\nuses: docker/build-push-action@v5.1",
        "npm i @scope/Pkg2@1.4.2 && npx create/App3@latest",
        "rabbitmqctl add_user NAME PASSWORD",
        "snmpwalk -v2c -c public 10.1.1.1 sysDescr",
        "PASS command not understood, 500.",
        "openssl passwd -6 asks for the word twice and prints a hash.",
        "password requisite pam_pwquality.so retry=3\npassword sufficient pam_unix.so sha512",
        "PasswordAuthentication no\nPermitRootLogin prohibit-password",
        "bindpw {{ vault_bindpw }}\nssl on",
        "rootpw {SSHA}" + noise(32),
        "storePassword keystoreProperties['storePassword']",
        "@token_salt_rounds 12\n@password_min_length 12",
        "fields = ['username', 'password', 'email_address2']",
        'keyring.get_password("Backup-Service2", "oma")',
        "setPassword(newPassword)",
        "DBI->connect($dsn, $user, $pw, { RaiseError => 1 })",
        "connect('localhost', 5432, 'warehouse_v2')",
        "password = random_password.db.result",
        'aws ssm describe-available-patches --filters "Key=PRODUCT,Values=WindowsServer2019"',
        "aws s3api get-object --bucket demo --key Large-Video_File2.mp4",
        "Fix credential leak on redirect (closes: #1010254, CVE-2022-27774)",
        "Managing passwords <https://docs.example.com/IAM/latest/UserGuide/id_credentials2.html>",
        "Add Simon's key B1D2BD1375BECB784CF4F8C4D73CF638C53C06BE to the keyring.",
        "Key exchange adds diffie-hellman-group16-sha512, diffie-hellman-group18-sha512",
        'smtp_password = jsondecode(data.aws_secret_version.mail.secret_string)["password"]',
        'url = "redis://:your-password-here@localhost:6379/0"',
        "password: *default_password",
        "<Password><Value>*SENSITIVE*DATA*DELETED*</Value></Password>",
        "next_page_token = '" + noise(40) + "'",
        "sort_key: '2024-06-01#order-8841'",
        "max_tokens: 4096\nmin_tokens: 16",
        "OPENAI_API_KEY=\nANTHROPIC_API_KEY=\nLOG_LEVEL=debug_2024",
        "await page.fill('#password', process.env.PW);",
    ],
    ids=short,
)
def test_commands_and_settings_without_a_value_are_no_secret(text: str):
    assert not screen(text).secrets


@pytest.mark.parametrize(
    "text",
    [
        "HubSpot tokens look like pat-eu1-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.",
        "sdk-version 4.2.1, api-gateway-7f9c, pat-na1 region",
        "oauth:token is the scope, oauth:authorize the endpoint.",
        "key_value_store_with_expiry_and_snapshots_enabled",
        "API-Gateway and API-MANAGEMENT-CONSOLE-2024",
        "sha256:" + noise(64, HEX),
        "pk_live_" + OPAQUE + " is the publishable key and may be in the page.",
        "auth " + noise(40, HEX) + " is the commit that introduced the module.",
        "UID:3c2b9170-3ea6-4283-8e13-7ad1c125dc68@cal.example.org",
    ],
    ids=short,
)
def test_what_only_begins_like_a_token_is_no_secret(text: str):
    assert not screen(text).secrets


@pytest.mark.parametrize(
    "text",
    [
        "Hasło na dziś z kalendarza: „Kto rano wstaje, temu Pan Bóg daje”.",
        "The first part covers OAuth2.0, the second part SAML2.",
        "The password starts with the year the company was founded; ask at the desk.",
        "Log in as Admin and open Report-2024-Q3.",
        "We moved the account to the server Web-Prod-01 and the router to Rack-B7.",
        "Connect to the network Boathouse-2G; the code of conduct v2.1 applies.",
        "The router is a FRITZ!Box_7590 in the hall.",
        "Press Ctrl+Alt+F2 to reach the login of the server.",
        "Email us at support+Login2@example.org.",
        "Das Passwort habe ich gestern geändert, Ticket INC_2024-118.",
        "The community string is public by default; change it.",
        "SNMP v3: user nms, auth SHA-256, priv AES-128",
        "Pass: 12, Fail: 3, Skip: Test_Login2",
        "Passphrase: please choose something long and odd.",
        "The pdf opens with Acrobat_2020 or later.",
        "User | Pass rate\n--- | ---\nnina | 98.5%",
        "host,user,role\nnas,oma,reader_2\nweb,nina,admin_3",
        "The safe stands 11 cm left of the door and 52 cm right of the window.",
        "Turn left at 11, right at the church, then 52 steps to the gate.",
        "Door 1205 is the seminar room, locker 2231 is yours.",
        "What's the country code?\n> 0049",
        "Agent: your order number please?\nCaller: it's 66281.",
        "The passcode has six digits. After 10 attempts the phone is locked.",
        "Failed password attempts: 482913 since May.",
        "Kilo, echo and tango are words of the NATO alphabet; so is zulu.",
    ],
    ids=short,
)
def test_talk_of_signing_in_and_of_locks_gives_nothing_away(text: str):
    assert not screen(text).secrets


def test_a_secret_sample_shows_only_its_own_paragraph():
    text = f"The spec shows a header.\n\nOurs: Authorization: Bearer {OPAQUE}"
    assert screen(text).secrets
