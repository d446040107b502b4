"""Secrets by their kind, made up here, and values of the same look that are nobody's secret."""

# Texts are read whole.
import re

import pytest

from knowledge.screening import screen
from knowledge.screening.shapes import VENDORS, Shape, vendor_shapes
from tests.support.screened import BY_PLACE, TOKENS, b64, noise


def test_the_table_of_vendors_names_a_public_source_for_each_shape():
    sources = re.findall(r'^source = "(.+)"$', VENDORS.read_text(), re.MULTILINE)
    assert len(sources) == len(vendor_shapes())
    assert all(re.match(r"https://|docs/", source) for source in sources)


def test_every_rule_of_the_table_has_a_credential_here():
    assert set(TOKENS) == {shape.rule for shape in vendor_shapes()}


@pytest.mark.parametrize("rule", TOKENS)
def test_a_vendors_token_needs_no_word_beside_it(rule: str):
    found = screen(f"The job uses {TOKENS[rule]} for now.").secrets
    assert [finding.rule for finding in found] == [rule]


@pytest.mark.parametrize("shape", vendor_shapes(), ids=lambda shape: shape.what)
def test_a_shape_is_searched_for_only_where_one_of_its_starts_stands(shape: Shape):
    assert all(start and isinstance(start, str) for start in shape.starts)
    assert shape.pattern.match("") is None


@pytest.mark.parametrize(("rule", "text"), BY_PLACE, ids=lambda value: value[:40])
def test_a_secret_is_known_by_its_place(rule: str, text: str):
    assert rule in [finding.rule for finding in screen(text).secrets]


def test_a_token_is_found_in_one_round_of_base64():
    text = "blob: " + b64("STRIPE_KEY=" + TOKENS["stripe_key"])
    assert [finding.rule for finding in screen(text).secrets] == ["stripe_key"]


NO_SECRETS = [
    'oBasic = macro_dir / "Module1.xba"',
    '"grade-pass" : summary.pass_rate',
    "func NewTokenSource(ctx context.Context, tokenURL string) oauth2.TokenSource",
    "type SecretKeySelector struct { Key SecretKeyRef }",
    "error handling pattern: retry with jitter and a budget",
    "The password is wrong, so the session token expires after 30 minutes.",
    "senha = cofre.obter('loja/pagamentos')",
    'signingKey = []byte(os.Getenv("SIGNING_KEY"))',
    "next_page_token = '" + noise(40) + "'",
    "max_tokens: 4096\nmin_tokens: 16",
    "Agent-Session: 1f0c9a52-7d3e-4b68-9c41-e85a07d2b6f3",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <your-token>",
    "redis://:your-password-here@localhost:6379/0",
    "postgres://user:password@localhost:5432/dbname",
    "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
    "sha256:" + noise(64, "0123456789abcdef"),
    "Revert commit " + noise(40, "0123456789abcdef") + ", it broke the token refresh.",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + noise(43) + " ada@laptop",
    "password: *default_password",
    "password_hash: $argon2id$v=19$m=65536,t=3,p=4$" + noise(22),
    "Password manager: Bitwarden 2024.1 or KeePassXC 2.7.",
    "We moved the account to the server Web-Prod-01 and the router to Rack-B7.",
    "HubSpot tokens look like pat-eu1-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.",
    "OPENAI_API_KEY=\nANTHROPIC_API_KEY=\nLOG_LEVEL=debug_2024",
    "await page.fill('#password', process.env.PW);",
    "-----BEGIN PRIVATE KEY-----\n(paste your key here)\n-----END PRIVATE KEY-----",
]


@pytest.mark.parametrize("text", NO_SECRETS, ids=lambda text: text[:40])
def test_what_only_looks_like_a_secret_is_let_pass(text: str):
    assert not screen(text).secrets


@pytest.mark.parametrize(
    "value",
    ["<your-key>", "${DB_PASSWORD}", "xxxxxxxxxxxx", "changeme", "$(cat key)", "vault:db/app",
     "{{ db_password }}", "os.environ['DB']", "********", "example-password", "your_password_here"],
)  # fmt: skip
def test_a_placeholder_is_no_password(value: str):
    assert not screen(f"password: {value}\n").secrets


def test_a_finding_repeats_four_characters_of_a_secret_at_most():
    key = TOKENS["github_token"]
    (finding,) = screen(f"key: {key}").secrets
    assert key[:4] in finding.sentence
    assert key[:5] not in finding.sentence
