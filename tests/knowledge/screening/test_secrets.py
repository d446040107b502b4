"""Secrets by their kind, made up here, and values of the same look that are nobody's secret."""

# Texts are read whole.
# ruff: noqa: E501

import base64
import json
import random
import re
import string

import pytest

from knowledge.screening import screen
from knowledge.screening.shapes import VENDORS, Shape, vendor_shapes

DICE = random.Random(20_240_607)


def noise(length: int, signs: str = string.ascii_letters + string.digits) -> str:
    return "".join(DICE.choice(signs) for _ in range(length))


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def signed(claims: dict[str, object]) -> str:
    parts = (json.dumps(part) for part in ({"alg": "RS256", "typ": "JWT"}, claims))
    encoded = (base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)
    return ".".join([*encoded, noise(43)])


TOKENS = {
    "quarry_token": "qr" + "y_" + noise(43),
    "anthropic_key": "sk-" + "ant-api03-" + noise(90),
    "openai_key": "sk-" + "proj-" + noise(48),
    "openrouter_key": "sk-" + "or-v1-" + noise(64, string.hexdigits.lower()),
    "model_provider_key": "gs" + "k_" + noise(52),
    "replicate_token": "r8" + "_" + noise(37),
    "hugging_face_token": "h" + "f_" + noise(34),
    "voyage_key": "p" + "a-" + noise(43),
    "aws_access_key": "AK" + "IA" + noise(16, string.ascii_uppercase + "234567"),
    "google_api_key": "AI" + "za" + noise(35),
    "google_oauth": "GOC" + "SPX-" + noise(28),
    "azure_key": noise(3) + "8" + "Q~" + noise(34),
    "github_token": "gh" + "p_" + noise(36),
    "gitlab_token": "gl" + "pat-" + noise(20),
    "atlassian_token": "AT" + "ATT" + noise(180),
    "slack_token": "xo" + "xb-" + noise(12, string.digits) + "-" + noise(24),
    "slack_webhook": "https://hooks.slack" + ".com/services/T" + noise(9) + "/B" + noise(9) + "/" + noise(24),
    "teams_webhook": "https://a.webhook.office" + ".com/webhookb2/" + noise(36) + "@" + noise(36),
    "discord_token": "https://discord" + ".com/api/webhooks/" + noise(18, string.digits) + "/" + noise(68),
    "telegram_token": noise(10, "123456789") + ":AA" + noise(33),
    "stripe_key": "sk" + "_live_" + noise(24),
    "webhook_secret": "wh" + "sec_" + noise(32),
    "square_token": "sq" + "0atp-" + noise(22),
    "payment_token": "EZ" + "AK" + noise(54),
    "twilio_key": "S" + "K" + noise(32, "0123456789abcdef"),
    "sendgrid_key": "S" + "G." + noise(22) + "." + noise(43),
    "mail_service_key": "ke" + "y-" + noise(32, "0123456789abcdef"),
    "postman_key": "PM" + "AK-" + noise(24, "0123456789abcdef") + "-" + noise(34, "0123456789abcdef"),
    "package_registry_token": "np" + "m_" + noise(36),
    "docker_token": "dc" + "kr_pat_" + noise(27),
    "digitalocean_token": "do" + "p_v1_" + noise(64, "0123456789abcdef"),
    "build_token": "bk" + "ua_" + noise(40, "0123456789abcdef"),
    "shopify_token": "shp" + "at_" + noise(32, "0123456789abcdef"),
    "databricks_token": "da" + "pi" + noise(32, "0123456789abcdef"),
    "vault_token": "hv" + "s." + noise(40),
    "terraform_token": noise(14) + ".atlas" + "v1." + noise(67),
    "pulumi_token": "pu" + "l-" + noise(40, "0123456789abcdef"),
    "cloud_token": "nf" + "p_" + noise(40),
    "monitoring_key": "gl" + "sa_" + noise(32) + "_" + noise(8, "0123456789abcdef"),
    "work_app_token": "nt" + "n_" + noise(46),
    "network_key": "tskey" + "-auth-" + noise(12) + "-" + noise(32),
    "facebook_token": "EA" + "AC" + noise(120),
    "age_key": "AGE-SECRET" + "-KEY-1" + noise(58, string.ascii_uppercase + string.digits),
    "wallet_key": "xp" + "rv" + noise(107),
    "live_token": "tide" + "_live_" + noise(29) + "7",
}  # fmt: skip
"""One credential for each rule of the vendors' table, in the shape that its vendor documents."""


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


BEGIN, END = "-----BEGIN ", "-----END "
BODY = "\n".join(noise(64) for _ in range(3))
BY_PLACE = [
    ("private_key", f"{BEGIN}EC PRIVATE KEY-----\n{BODY}\n{END}EC PRIVATE KEY-----"),
    ("private_key", json.dumps({"key": f"{BEGIN}PRIVATE KEY-----\n{BODY}\n{END}PRIVATE KEY-----"})),
    ("jwt", f"Signed in with {signed({'sub': 'u-4411', 'tenant': 'north'})} today."),
    ("connection_string", "DATABASE_URL=postgresql://ledger:" + "Ruby!mast-48" + "@10.2.3.4/ledger"),
    ("connection_string", "amqp://jobs:" + "kV7pastel91" + "@queue.example.net:5672"),
    ("authorization_header", f"curl -H 'Authorization: Bearer {noise(40)}7' https://api.example.com"),
    ("authorization_header", "'Authorization': 'Basic " + b64("deploy:Wren-Tower-908") + "'"),
    ("authorization_header", f"X-Api-Key: {noise(32)}7"),
    ("kubernetes_secret", "kind: Secret\ndata:\n  db: " + b64("Cinder&Moss17")),
    ("otp_seed", "otpauth://totp/Shop:ana?" + "secret=" + noise(32, string.ascii_uppercase + "234567")),
    ("password_assignment", "smtp:\n  host: mail.example.com\n  password: " + "gK4%Willow-tarn"),
    ("password_assignment", "- name: ADMIN_PASSWORD\n  value: " + "Topaz-Mill-6620"),
    ("password_assignment", "<user>svc</user><password>" + "Plover_72!den" + "</password>"),
    ("password_assignment", "define('DB_PASSWORD', '" + "Lark&Oboe2e" + "');"),
    ("password_assignment", "docker login registry.example.com -u robot -p " + "Fjord-Kettle-33"),
    ("password_assignment", "curl -u importer:" + "Lime7Quarry!" + " https://api.example.com/v1"),
    ("password_assignment", "The password for the guest network is " + "Juniper-4471" + " until Friday."),
    ("password_assignment", "Das Kennwort für den Beamer lautet „" + "Lampe77_grau" + "“."),
    ("password_assignment", "La contraseña del router es " + "Naranja#551x"),
    ("secret_assignment", f"NEXTAUTH_SECRET={noise(31)}7"),
    ("secret_assignment", f"client_secret: '{noise(36)}9'"),
    ("secret_assignment", f'const apiKey = "{noise(30)}42";'),
]  # fmt: skip


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
