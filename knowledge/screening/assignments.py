"""Passwords and keys that are given a value: in configuration and code."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.addresses import find_in_requests
from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import (
    decoded,
    is_password,
    is_random,
    is_stand_in,
    is_token,
    lowered,
)
from knowledge.screening.samples import unpublished
from knowledge.screening.secrets import secret

_PASSWORD_NAME = re.compile(
    r"pass(?:word|wd|phrase|code|wort)|kennwort|contrase(?:ñ|n)a|senha|wachtwoord|mot_?de_?passe"
    r"|pwd|pass(?![a-z])|psk|requirepass"
)
_TOKEN_NAME = re.compile(
    r"secret|token|credential|apikey|(?:api|auth|access|private|signing|encrypt(?:ion)?|master|account"
    r"|storage|shared|session|license|hmac|webhook|service|deploy|app|jwt|subscription|aes|cipher|crypto?|enc|sign|root|admin|consumer|write|ingest|tenant|security|bot|user|activation)[_\-. ]?key"
    r"|_key|auth(?![a-z])|bearer|salt|pepper|seed|dsn|webhook"
)
_LEAD = re.compile(r"[A-Za-z0-9_.\-]{0,60}\Z")
_JOINT = re.compile(
    r"""
    (?P<tail>[_-]?(?:access_?key|key|value|string|text|base64|b64|hex|prod|production|live|staging|dev
      |test|new|old|id|[A-Za-z0-9]{1,4})?)
    ["'`]?\]?\s{0,3}(?::=|=>|->|=(?!=)|:(?!:))
    \s{0,12}(?:[|>]-?\s{1,12}|[rbfu@](?=["'])
      |(?:\[\]byte|bytes(?:\.fromhex)?|bytearray(?:\.fromhex)?|(?:binascii\.)?unhexlify|(?:base64\.)?b64decode|atob|Buffer\.from|String(?:::from)?|str|Some|SecretStr|Secret(?:String)?(?:::new)?|hex\.DecodeString
      |(?:new\ )?[A-Za-z]{0,20}KeySpec|(?:\w{1,20}\.){0,3}GetBytes|Uint8Array\.from|TextEncoder\(\)\.encode|Data|Bytes(?:::from_static)?|Key(?:::from_slice)?|Fernet)\(\s?[b@]?(?=["']))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(
    r'"((?:[^"\\\n]|\\.){1,300})"|\'((?:[^\'\\\n]|\\.){1,300})\'|`([^`\n]{1,300})`'
)
_BARE = re.compile(r"""[^\s"'`<>,;]{1,300}""")
_ESCAPED_QUOTE = re.compile(r'\\"([^"\\\n]{1,300})\\"')
_HARMLESS_NAME = re.compile(
    r"""
      public|publish|site[_-]?key|client[_-]?id|page|next|cursor|continu|csrf|xsrf|idempoten|cache|sync
    | count|max|min|limit|length|size|ttl|expir|type|url|uri|endpoint|path|file|name$|num_?|total|budget
    | per_|hash|digest|finger|checksum|regex|pattern|prefix|suffix|header|field|param|column|label|policy
    | host_?key|primary|foreign|partition|sort_?key|object_?key|tokens?_?(?:used|in|out)|input|output
    | stop|eos|bos|pad|unk|mask|author|arn|version|rotation|reset|forgot|strength|hint|prompt
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PAGE_TOKEN = re.compile(r"csrf|xsrf|authenticity|verification|nonce|page|public", re.IGNORECASE)
_XML = re.compile(
    r"(?:password|passwd|pwd|secret|token|apikey|api-key|passphrase|privateKey)(?![\w.-])"
    r"[^<>]{0,120}>\s{0,20}(?P<value>[^<>\s][^<>\n]{4,200}?)\s{0,20}</",
    re.IGNORECASE,
)
_KEY_VALUE_PAIR = re.compile(
    r"""(?:key|name)["']?\s?[=:]\s?["']?[\w.:-]{0,60}?(?:password|pwd|secret|token|api_?key|key)["']?
    [,\s]{1,40}["']?value["']?\s?[=:]\s?["']?(?P<value>[^"'\s]{6,200}|(?<=["'])[^"'\n]{6,200})""",
    re.VERBOSE | re.IGNORECASE,
)
_KUBERNETES = re.compile(r"^[ \t]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?Secret\b", re.MULTILINE)
_DATA_LINE = re.compile(
    r"^\s{1,12}[\"']?(?P<name>[\w.-]{1,80})[\"']?:\s{1,4}[\"']?(?P<value>[A-Za-z0-9+/]{8,4000}={0,2})[\"']?,?\s*$",
    re.MULTILINE,
)


def find_assigned(text: str) -> Iterator[Finding]:
    """Every secret that configuration, code, an address or a header gives away."""
    yield from find_in_requests(text)
    yield from _kubernetes(text)
    yield from _elements(text)
    yield from unpublished(text, _assignments(text))


def _kubernetes(text: str) -> Iterator[Finding]:
    if not _KUBERNETES.search(text):
        return
    for match in _DATA_LINE.finditer(text):
        plain = decoded(match["value"]).strip()
        named = re.search(
            r"pass|pwd|token|secret|key|cred|auth|dsn|url|cert", match["name"], re.IGNORECASE
        )
        if len(plain) >= 6 and not is_stand_in(plain) and (named or is_password(plain)):
            yield secret("kubernetes_secret", "a value of a Kubernetes Secret", match.span("value"))


def _elements(text: str) -> Iterator[Finding]:
    for match in (*_XML.finditer(text), *_KEY_VALUE_PAIR.finditer(text)):
        value = match["value"]
        if _PAGE_TOKEN.search(text, match.start(), match.start("value")):
            continue
        if (is_password(value) or is_random(value)) and not is_stand_in(value):
            what = "a value for a password or key"
            yield secret("password_assignment", what, match.span("value"))


def _assignments(text: str) -> Iterator[Finding]:
    for names, rule, is_live in (
        (_PASSWORD_NAME, "password_assignment", _is_given_password),
        (_TOKEN_NAME, "secret_assignment", _is_token),
    ):
        seen = 0
        for name in names.finditer(lowered(text)):
            if name.start() < seen:
                continue
            joint = _JOINT.match(text, name.end())
            if joint is None or _is_harmless(text, name, joint):
                continue
            value, span, quoted = _value_at(text, joint.end())
            seen = span[1]
            if is_live(value, quoted=quoted):
                yield secret(rule, f"a value for “{name[0]}”", span)


def _is_harmless(text: str, name: re.Match[str], joint: re.Match[str]) -> bool:
    lead = _LEAD.search(text, max(0, name.start() - 60), name.start())
    if lead is None or (
        name[0] in ("pass", "psk", "seed", "salt", "auth") and lead[0][-1:].isalpha()
    ):
        return True
    return _HARMLESS_NAME.search(lead[0] + joint["tail"]) is not None


def _value_at(text: str, at: int) -> tuple[str, tuple[int, int], bool]:
    for pattern, quoted in ((_ESCAPED_QUOTE, True), (_QUOTED, True), (_BARE, False)):
        if match := pattern.match(text, at):
            group = match.lastindex or 0
            value, start = match[group], match.start(group)
            bare = value if quoted else value.rstrip(".,;:)]}\\")
            return bare, (start, start + len(bare)), quoted
    return "", (at, at), False


def _is_given_password(value: str, *, quoted: bool) -> bool:
    return is_password(value) and (quoted or "(" not in value)


def _is_token(value: str, **_: bool) -> bool:
    return is_token(value)
