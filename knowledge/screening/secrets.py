"""Credentials that are known by their shape: vendors' tokens, private keys, signed tokens."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import entropy, is_random, is_sample
from knowledge.screening.samples import is_published


@dataclass(frozen=True, slots=True)
class Shape:
    """How one issuer's credentials look; without one of its anchors a text is not searched."""

    rule: str
    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(rule: str, name: str, anchors: str, pattern: str) -> Shape:
    return Shape(rule, name, tuple(anchors.split()), re.compile(rf"(?<![A-Za-z0-9]){pattern}"))


_HEX = "[0-9a-f]"
_WORD = "[A-Za-z0-9]"
_B64 = "[A-Za-z0-9_-]"
_B58 = "[1-9A-HJ-NP-Za-km-z]"
_UUID = f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"

SHAPES = (
    _shape("quarry_token", "a token of this server", "qry_", rf"qry_{_B64}{{40,60}}"),
    _shape("anthropic_key", "an Anthropic key", "sk-ant-", rf"sk-ant-{_B64}{{24,200}}"),
    _shape("openai_key", "an OpenAI key", "sk-", rf"sk-(?:(?:proj|svcacct|admin|None)-{_B64}{{20,250}}|(?!ant-){_WORD}{{20,80}})(?!{_B64})"),
    _shape("openrouter_key", "an OpenRouter key", "sk-or-", rf"sk-or-(?:v1-)?{_WORD}{{32,80}}"),
    _shape("groq_key", "a key of a model provider (Groq, xAI, Perplexity, Nvidia, Cerebras, Together, Fireworks, ElevenLabs)", "gsk_ xai- pplx- nvapi- csk- tvly- jina_ lsv2_ ls__ rpa_ sk-lf- tgp_v1_ fw_ llx- fc- e2b_ esecret_ wandb_v1_ crsr_ key_ sk_", rf"(?:(?:gsk_|xai-|pplx-|csk-|jina_|rpa_){_WORD}{{32,100}}|nvapi-{_B64}{{50,90}}|tvly-{_B64}{{24,60}}|lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}|ls__{_HEX}{{32}}|sk-lf-{_UUID}|tgp_v1_{_B64}{{40,60}}|fw_{_WORD}{{22,32}}(?!{_B64})|llx-{_WORD}{{40,60}}|fc-{_HEX}{{32}}(?!{_B64})|e2b_{_HEX}{{40}}|esecret_[a-z0-9]{{24,50}}|wandb_v1_\w{{60,100}}|crsr_{_HEX}{{64}}|key_{_HEX}{{64,128}}|sk_{_HEX}{{40,64}}(?!{_WORD}))"),
    _shape("replicate_token", "a Replicate token", "r8_", rf"r8_{_WORD}{{30,50}}"),
    _shape("hugging_face_token", "a Hugging Face token", "hf_ api_org_", rf"(?:hf|api_org)_{_WORD}{{28,60}}"),
    _shape("voyage_key", "a Voyage or Pinecone key", "pa- pcsk_", rf"(?:pa-{_B64}{{40,60}}|pcsk_\w{{40,90}})"),
    _shape("aws_access_key", "an AWS access key", "AKIA ASIA ABIA ACCA ABSK bedrock-api-key-", rf"(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?!{_WORD})|ABSK[A-Za-z0-9+/]{{90,300}}|bedrock-api-key-[A-Za-z0-9+/=]{{60,}})"),
    _shape("google_api_key", "a Google API key", "AIza", rf"AIza{_B64}{{33,40}}"),
    _shape("google_oauth", "a Google OAuth secret", "GOCSPX- ya29. 1// AQ.Ab", rf"(?:GOCSPX-{_B64}{{20,40}}|ya29\.{_B64}{{30,400}}|1//0{_B64}{{30,200}}|AQ\.Ab{_B64}{{40,80}})"),
    _shape("azure_key", "an Azure secret", "8Q~ 7Q~ AzureDevOps AccountKey SharedAccessKey sig= JQQJ9 AZDO", rf"(?:{_B64}{{3}}[78]Q~[A-Za-z0-9_.~-]{{31,34}}|(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{{40,90}}=*|sig=[A-Za-z0-9%+/]{{40,120}}|{_WORD}{{52}}JQQJ9[9D]{_WORD}{{20,32}}|{_WORD}{{76}}AZDO{_WORD}{{4}}(?!{_WORD}))"),
    _shape("github_token", "a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", rf"(?:gh[pousr]_{_WORD}{{30,255}}|github_pat_\w{{36,255}})"),
    _shape("gitlab_token", "a GitLab token", "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- gloas- glsoat- glagent- glimt- glwt- glffct- GR1348941", rf"(?:gl(?:pat|dt|rtr?|ptt|cbt|ft|oas|soat|agent|imt|wt|ffct)-[A-Za-z0-9_.=-]{{20,100}}|GR1348941{_B64}{{20}})"),
    _shape("bitbucket_token", "an Atlassian token", "ATATT ATBB ATCTT", rf"AT(?:ATT|BB|CTT){_B64}{{20,250}}=?{_WORD}*"),
    _shape("slack_token", "a Slack token", "xox xapp- xwfp-", r"(?:(?:xox[abceoprs]|xoxe\.xox[bp]|xapp|xwfp)-[A-Za-z0-9-]{20,250}|xoxd-[A-Za-z0-9%+/=_-]{40,300})"),
    _shape("slack_webhook", "a Slack webhook address", "hooks.slack.com", rf"hooks\.slack\.com/(?:services|workflows|triggers)/{_WORD}{{5,20}}/{_WORD}{{5,24}}/{_WORD}{{16,60}}"),
    _shape("teams_webhook", "a Teams webhook address", "webhook.office.com", rf"{_B64}*\.?webhook\.office\.com/webhookb2/[\w@/-]{{60,250}}"),
    _shape("discord_token", "a Discord token or webhook address", "/api/webhooks/ . ", rf"(?:discord(?:app)?\.com/api/webhooks/\d{{15,20}}/{_B64}{{40,90}}|[MNO]{_B64}{{22,27}}\.{_B64}{{6}}\.{_B64}{{27,40}}(?!{_B64}))"),
    _shape("telegram_token", "a Telegram bot token", ":AA", rf"(?:bot)?\d{{8,10}}:AA{_B64}{{32,34}}(?!{_B64})"),
    _shape("stripe_key", "a Stripe key", "_live_ _test_ _org_", rf"(?:sk|rk)_(?:org_)?(?:live|test|prod)_{_WORD}{{16,250}}"),
    _shape("webhook_secret", "a webhook signing secret", "whsec_", r"whsec_[A-Za-z0-9+/=_-]{20,100}"),
    _shape("square_token", "a Square token", "sq0 EAAA", rf"(?:sq0(?:atp|csp|idp)-{_B64}{{20,60}}|EAAA{_B64}{{58,64}}(?!{_B64}))"),
    _shape("paypal_token", "a token of a payment service (PayPal, Braintree, Plaid, Flutterwave, Paddle, EasyPost, Klaviyo)", "access_token$ A21AA access-production- access-sandbox- access-development- FLWSECK pdl_ EZAK EZTK pk_", rf"(?:access_token\$(?:production|sandbox)\$[0-9a-z]{{10,20}}\$[0-9a-f]{{32}}|A21AA{_B64}{{80,100}}|access-(?:production|sandbox|development)-{_UUID}|FLWSECK(?:_TEST)?-[0-9A-Za-z]{{12,40}}-?X?|pdl_(?:live|sdbx)_apikey_[a-z0-9]{{20,30}}_{_WORD}{{20,24}}_{_WORD}{{3}}|EZ[AT]K{_WORD}{{54}}|pk_{_HEX}{{34}}(?!{_WORD}))"),
    _shape("twilio_key", "a Twilio key", "SK", rf"SK{_HEX}{{32}}(?!{_WORD})"),
    _shape("sendgrid_key", "a SendGrid key", "SG.", rf"SG\.{_B64}{{16,32}}\.{_B64}{{30,60}}"),
    _shape("mailgun_key", "a Mailgun, MailerSend or Resend key", "key- mlsn. re_ ailgun", rf"(?:key-{_HEX}{{32}}(?!{_WORD})|{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}(?![\w-])|mlsn\.{_HEX}{{60,70}}|re_{_WORD}{{6,10}}_{_WORD}{{20,30}}(?!{_B64}))"),
    _shape("mailchimp_key", "a Mailchimp key", "-us", rf"{_HEX}{{32}}-us\d{{1,2}}(?!\d)"),
    _shape("brevo_key", "a Brevo key", "xkeysib- xsmtpsib-", rf"x(?:keysib|smtpsib)-{_HEX}{{40,80}}-{_WORD}{{12,20}}"),
    _shape("postman_key", "a Postman key", "PMAK-", rf"PMAK-{_HEX}{{20,30}}-{_HEX}{{30,40}}"),
    _shape("npm_token", "an npm or NuGet token", "npm_ oy2", rf"(?:npm_{_WORD}{{30,60}}|oy2[a-z0-9]{{40,46}}(?!{_B64}))"),
    _shape("pypi_token", "a PyPI token", "pypi-", rf"pypi-{_B64}{{40,250}}"),
    _shape("rubygems_key", "a key of a package registry (RubyGems, crates.io, Clojars, Packagist, JSR)", "rubygems_ cio CLOJARS_ packagist_ jsrp_ jsrd_", rf"(?:rubygems_{_HEX}{{40,60}}|cio(?=[A-Za-z]*\d){_WORD}{{32}}(?!{_B64})|CLOJARS_[a-z0-9]{{58,64}}|packagist_\w{{2,8}}_{_HEX}{{60,80}}|jsr[pd]_{_B64}{{40,60}})"),
    _shape("docker_token", "a Docker token", "dckr_", rf"dckr_(?:pat|oat)_{_B64}{{20,60}}"),
    _shape("digitalocean_token", "a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"do[opr]_v1_{_HEX}{{60,70}}"),
    _shape("build_token", "a token of a build or cluster (CircleCI, Buildkite, Swarm, k3s, OpenShift, Octopus, Harness)", "CCIPAT_ CCIPRJ_ bkua_ bkaj_ SWMTKN- ::server: ::node: sha256~ API- pat. sat. squ_ sqp_ sqa_ pnu_ pnb_", rf"(?:CCIP(?:AT|RJ)_{_WORD}{{20,24}}_{_HEX}{{40}}|bk(?:ua|aj)_{_HEX}{{40}}|SWMTKN-1-[a-z0-9]{{40,60}}-[a-z0-9]{{20,30}}|K10{_HEX}{{60,70}}::(?:server|node):{_HEX}{{32}}|sha256~{_B64}{{43}}(?!{_B64})|API-(?=[A-Z]*\d)[A-Z0-9]{{25,32}}(?!{_B64})|[ps]at\.{_B64}{{20,24}}\.{_HEX}{{24}}\.{_WORD}{{20}}|sq[upa]_{_HEX}{{40}}|pn[ub]_{_WORD}{{36}})"),
    _shape("shopify_token", "a Shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_", rf"shp(?:at|ca|pa|ss|tka)_{_WORD}{{30,40}}"),
    _shape("databricks_token", "a Databricks token", "dapi dose dkea", rf"(?:dapi|dose|dkea){_HEX}{{32}}(?:-\d)?(?!{_WORD})"),
    _shape("vault_token", "a Vault token", "hvs. hvb. hvr. s.", rf"(?:hv[sbr]\.{_B64}{{24,250}}|s\.(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z]){_WORD}{{24}}(?!{_WORD}))"),
    _shape("terraform_token", "a Terraform token", ".atlasv1.", rf"{_WORD}{{14}}\.atlasv1\.{_B64}{{50,80}}"),
    _shape("pulumi_token", "a Pulumi token", "pul-", rf"pul-{_HEX}{{40}}"),
    _shape("cloud_token", "a token of a cloud (Fly, Heroku, Netlify, Vercel, Render, Supabase, Mapbox, PlanetScale, Neon, Yandex, Alibaba, Tencent)", "fm2_ fo1_ FlyV1 HRKU- nfp_ nfc_ nfo_ vcp_ vercel_blob_ rnd_ sbp_ sb_secret_ sk.eyJ pscale_ napi_ npg_ ddp_ ddw_ t1.9eue AQVN y0_ LTAI AKID xau_ tsec_", rf"(?:sk\.eyJ{_B64}{{20,200}}\.{_B64}{{16,60}}|pscale_(?:tkn|pw|oauth)_[\w.-]{{32,64}}|t1\.9eue[\w-]{{30,300}}\.[\w-]{{60,100}}|AQVN{_B64}{{35,40}}(?!{_B64})|y0_{_B64}{{50,70}}|(?:FlyV1 )?fm2_[A-Za-z0-9+/=_-]{{60,}}|fo1_{_B64}{{40,50}}|HRKU-{_B64}{{36,70}}|nf[pco]_{_WORD}{{36,50}}|vcp_{_WORD}{{24,60}}|vercel_blob_rw_{_WORD}{{12,20}}_{_WORD}{{24,40}}|rnd_{_WORD}{{28,40}}|sbp_{_HEX}{{40}}|sb_secret_{_B64}{{20,60}}|napi_[a-z0-9]{{50,80}}|npg_(?=[A-Za-z]*\d){_WORD}{{12,16}}(?!{_B64})|dd[pw]_{_WORD}{{36,40}}|LTAI(?=[A-Za-z]*\d){_WORD}{{12,22}}(?!{_WORD})|AKID(?=[A-Za-z]*\d){_WORD}{{32}}(?!{_WORD})|xau_{_WORD}{{40,50}}|tsec_[\w+-]{{40,80}})"),
    _shape("monitoring_key", "a Grafana, New Relic, Sentry, Dynatrace, PagerDuty, LaunchDarkly or PostHog key", "glc_ glsa_ eyJrIjoi NRAK- NRJS- NRII- NRAA- NRRA- NRAL sntry phx_ dt0 u+ pdus+ sdk- api- ico- hcaik_", rf"(?:glc_[A-Za-z0-9+/=]{{32,400}}|glsa_{_WORD}{{32}}_{_HEX}{{8}}|eyJrIjoi{_WORD}{{60,400}}={{0,2}}|NR(?:AK|JS|II|AA|RA)-{_B64}{{27,40}}|(?:eu01xx)?{_HEX}{{30,36}}(?:FFFF)?NRAL|sntry[su]_[A-Za-z0-9+/=_-]{{40,250}}|phx_{_WORD}{{40,60}}|dt0[a-z]\d\d\.[A-Z0-9]{{24}}\.[A-Z0-9]{{64}}|(?:pdus\+_?\w{{4}}_|u\+)(?=[A-Za-z_-]*\d|[\w-]*[a-z][A-Z]){_B64}{{18,40}}(?!{_B64})|(?:sdk|api)-{_UUID}(?![\w-])|ico-{_WORD}{{32}}(?!{_B64})|hcaik_{_WORD}{{50,70}})"),
    _shape("work_app_token", "a token of a work app (Notion, Linear, Figma, Airtable, Asana, Trello, HubSpot, Typeform, Salesforce, Doppler)", "ntn_ secret_ lin_api_ lin_oauth_ figd_ figu_ figo_ pat pat- dp. ops_eyJ CFPAT- sgp_ AKCp cmVmdGtu BBDC- sl. ory_ aio_ ATTA tfp_ 00D rdme_ fio-u- jca_ os_v2_ duffel_ gb_api_ dG9rOj waka_ lip_ 1/ 2/ syt_ mct_ tk_ oauth: _mmk jsn secret-live- secret-test- :fx", rf"(?:ops_eyJ{_B64}{{100,2000}}|CFPAT-{_B64}{{40,50}}|sgp_{_HEX}{{40}}|sgp_{_HEX}{{16}}_{_HEX}{{40}}|sgp_{_WORD}{{60,70}}|AKCp[0-9]{_WORD}{{60,80}}|cmVmdGtu{_WORD}{{50,60}}|BBDC-[A-Za-z0-9+/]{{40,50}}|sl\.(?:u\.)?{_B64}{{130,1500}}|ory_(?:pat|at|st|apikey)_{_B64}{{30,60}}|aio_{_WORD}{{28}}(?!{_WORD})|ntn_{_WORD}{{40,60}}|secret_{_WORD}{{43}}(?!{_WORD})|lin_(?:api|oauth)_{_WORD}{{36,70}}|fig[duo]_{_B64}{{36,60}}|pat{_WORD}{{14}}\.{_HEX}{{64}}|pat-[a-z]{{2}}\d-{_UUID}|dp\.(?:pt|st|ct|sa|scim|audit)\.(?:\w{{2,30}}\.)?{_WORD}{{38,50}}|ATTA{_HEX}{{64,76}}|tfp_{_B64}{{40,64}}|00D{_WORD}{{12,15}}!A[QR][\w.]{{60,120}}|rdme_[a-z0-9]{{60,76}}|fio-u-[\w=-]{{60,68}}|jca_{_WORD}{{36}}|os_v2_(?:app|org)_[a-z2-7]{{60,120}}|duffel_(?:live|test)_{_B64}{{40,46}}|gb_api_{_WORD}{{36,44}}|dG9rOj{_WORD}{{40,70}}={{0,2}}|waka_{_UUID}|lip_(?=[A-Za-z]*\d){_WORD}{{20,24}}(?!{_B64})|[012]/\d{{10,20}}(?:/\d{{10,20}})?:{_HEX}{{32}}|syt_{_WORD}{{4,60}}_[A-Za-z0-9]{{20}}_{_WORD}{{6}}|mct_{_WORD}{{30}}_{_WORD}{{6}}|tk_(?=[a-z]*\d)[a-z0-9]{{29}}(?!{_WORD})|oauth:(?=[a-z]*\d)[a-z0-9]{{30}}(?!{_WORD})|{_WORD}{{6,12}}_{_WORD}{{29}}_mmk|[a-z0-9]{{10}}msh[a-z0-9]{{15}}p1[a-z0-9]{{6}}jsn[a-z0-9]{{12}}|{_UUID}:fx(?![\w-])|secret-(?:live|test)-(?=[A-Za-z_-]*\d){_B64}{{36,60}}=?)"),
    _shape("network_key", "a Cloudflare, Tailscale, NetBird, ngrok or Firebase key", "v1.0- cfut_ cfat_ cfk_ eyJhIjoi tskey- nbp_ dnkey- :APA91b PVEAPIToken=", rf"(?:{_B64}{{11}}:APA91b{_B64}{{120,160}}|v1\.0-{_HEX}{{24}}-{_HEX}{{100,160}}|cf(?:ut|at|k)_{_WORD}{{36,60}}|eyJhIjoi[A-Za-z0-9+/]{{100,400}}={{0,2}}|tskey-(?:auth|api|client|scim|webhook)-{_WORD}{{8,24}}-{_WORD}{{16,50}}|nbp_{_WORD}{{36}}|dnkey-{_B64}{{24,30}}-{_B64}{{50,56}}|PVEAPIToken=[\w.-]+@\w+![\w-]+=+{_UUID})"),
    _shape("facebook_token", "a Meta token", "EAA", rf"EAA[A-Z]{_WORD}{{60,250}}"),
    _shape("age_key", "an age secret key", "AGE-SECRET-KEY-1 AGE-PLUGIN", r"AGE-(?:SECRET-KEY|PLUGIN-[A-Z]+)-1[0-9A-Z]{40,80}"),
    _shape("wallet_key", "a wallet's private key", "xprv yprv zprv nsec1 5H 5J 5K K L S edsk _sk1", rf"(?:[xyz]prv{_WORD}{{100,115}}|nsec1[a-z0-9]{{58}}(?!{_WORD})|edsk{_B58}{{50,94}}(?!{_WORD})|(?:ed25519e?|addr|stake|root_x|acct_x)_?sk1[a-z0-9]{{58,200}}|(?:5[HJK]{_B58}{{49}}|[KL]{_B58}{{51}}|S[A-Z2-7]{{55}})(?!{_WORD}))"),
    _shape("secret_assignment", "a live token", "_live_ _prod_ _secret_ -live- _sk_ secret-token:", rf"(?<![_-])(?:(?!pk|pub)[A-Za-z]{{2,14}}(?:_(?:live|prod|production|secret|sk|private)_|-live-)(?:v\d_)?(?=[A-Za-z_-]{{0,40}}\d){_B64}{{24,120}}(?!{_B64})|secret-token:[\w%.~-]{{16,200}})"),
)  # fmt: skip

SECRET_RULES = (
    *(shape.rule for shape in SHAPES if shape.rule != "secret_assignment"),
    "private_key",
    "jwt",
    "connection_string",
    "authorization_header",
    "session_cookie",
    "kubernetes_secret",
    "password_assignment",
    "secret_assignment",
    "command_line_password",
    "told_password",
    "pin_code",
    "recovery_codes",
    "seed_phrase",
    "otp_seed",
)
"""Every rule's name: the shapes above, and what configuration, commands and prose give away."""

_ARMOUR = re.compile(
    r"-----BEGIN (?P<kind>(?:[A-Z0-9]{1,20} ){0,4})PRIVATE KEY(?P<block> BLOCK)?-----"
    r"(?P<body>(?:[^-]|-(?!----)){0,20000})(?:-----END [A-Z0-9 ]{0,60}-----)?"
)
_STATIC_KEY = re.compile(
    r"-----BEGIN OpenVPN Static key V\d-----\s+(?:[0-9a-f]{16,64}\s+){8,40}"
    r"|untrusted comment: [^\n]{0,80}secret key[^\n]{0,40}\n\s{0,8}RW[A-Za-z0-9+/=]{50,400}"
    r"|<RSAKeyValue>[^?]{0,2000}?<D>\s{0,8}[A-Za-z0-9+/=\s]{80,800}</D>"
)
_PUTTY = re.compile(
    r"PuTTY-User-Key-File-\d:[^\n]*\n(?:[^\n]{0,200}\n){1,80}?Private-Lines: \d+\s+(?:[A-Za-z0-9+/=]{20,80}\s*)+"
)
_BARE_KEY = re.compile(
    r"(?<![A-Za-z0-9+/=_-])(?:b3BlbnNzaC1rZXktdjE|MII[A-Za-z0-9+/]{2,6}IBADANBgkqhkiG9w0BAQEFAASC|MII[A-Za-z0-9+/]{1,4}IBAAKC|MHcCAQEEI|MIG[A-Za-z0-9]AgEAMB[AM]GByqGSM49|MIHuAgEAMBAGByqGSM49|MEECAQAwEwYHKoZIzj0|MIGkAgEBBD|MC4CAQAwBQYDK2VwBCIEI)[A-Za-z0-9+/=]{40,}"
)
_JWK = re.compile(r"""["'][dk]["']\s?:\s?["'](?P<bare>[\w-]{40,700})["']""")
_BYTES = re.compile(r"\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*\]")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
_JWT = re.compile(r"(?<![\w.-])(eyJ[\w-]{8,2000})\.(eyJ[\w-]{4,8000})\.([\w-]{20,1400})(?![\w-])")


def find_tokens(text: str) -> Iterator[Finding]:
    """Every credential in a known shape, the most telling shapes first."""
    yield from _private_keys(text)
    yield from _signed_tokens(text)
    for shape in SHAPES:
        if any(anchor in text for anchor in shape.anchors):
            yield from _in_shape(text, shape)


def secret(rule: str, what: str, span: tuple[int, int]) -> Finding:
    """A finding that says what was found and never what it said."""
    return Finding("secret", rule, f"The text holds {what}.", *span)


def _in_shape(text: str, shape: Shape) -> Iterator[Finding]:
    for match in shape.pattern.finditer(text):
        if not is_sample(match[0]) and entropy(match[0]) > 2.8:
            what = f"what looks like {shape.name} (it begins with “{match[0][:4]}”)"
            yield secret(shape.rule, what, match.span())


def _private_keys(text: str) -> Iterator[Finding]:
    if "PRIVATE KEY" in text:
        for match in _ARMOUR.finditer(text):
            body = match["body"].replace("\\n", "\n").replace("\\r", "")
            is_filled = sum(map(len, _KEY_LINE.findall(body))) >= 40
            if is_filled and not is_published(text, *match.span()):
                yield secret("private_key", "a private key", match.span())
    for match in _BARE_KEY.finditer(text):
        if entropy(match[0]) > 4:
            yield secret("private_key", "a private key without its frame", match.span())
    if '"kty"' in text:
        for match in _JWK.finditer(text):
            if is_random(match["bare"]) and not is_published(text, *match.span()):
                yield secret("private_key", "the private part of a JWK", match.span("bare"))
    for match in _BYTES.finditer(text):
        numbers = [int(number) for number in re.findall(r"\d+", match[0])]
        if max(numbers) < 256 and len(set(numbers)) > 40:
            yield secret("private_key", "the bytes of a key pair", match.span())
    if "OpenVPN Static" in text or "secret key" in text or "<RSAKeyValue>" in text:
        for match in _STATIC_KEY.finditer(text):
            yield secret("private_key", "a private key", match.span())
    if "PuTTY-User-Key-File" in text:
        for match in _PUTTY.finditer(text):
            yield secret("private_key", "a private key", match.span())


def _signed_tokens(text: str) -> Iterator[Finding]:
    if "eyJ" not in text:
        return
    for match in _JWT.finditer(text):
        header, payload = _segment(match[1]), _segment(match[2])
        is_signed = "alg" in header and header["alg"] != "none"
        is_taught = _is_taught(payload) or is_published(text, *match.span())
        if is_signed and not is_taught and not is_sample(match[3]):
            yield secret("jwt", "a signed token (JWT) with its signature", match.span())


def _segment(encoded: str) -> dict[str, object]:
    try:
        value = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_taught(payload: dict[str, object]) -> bool:
    """The tokens that every tutorial and RFC 7519 show: John Doe, and the issuer joe."""
    is_john = payload.get("sub") == "1234567890" and payload.get("name") == "John Doe"
    is_joe = payload.get("iss") == "joe" and payload.get("exp") == 1300819380
    return is_john or is_joe or payload in _OF_MANUALS


_OF_MANUALS = (
    {"some": "payload"},
    {"foo": "bar"},
    {"hello": "world"},
    {"key": "value"},
    {"k": "value"},
)
