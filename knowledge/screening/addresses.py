"""Passwords and keys that a request carries: in its address, its query or its headers."""

import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import (
    decoded,
    is_mixed,
    is_random,
    is_stand_in,
    is_token,
    kinds_of_character,
    lowered,
)
from knowledge.screening.samples import unpublished
from knowledge.screening.secrets import secret

_ADDRESS = re.compile(
    r"(?<=[a-z0-9])://(?P<user>[^\s:/@\"'<>`]{0,80}):"
    r"(?P<password>[^\s/\"'<>`@]{1,120}(?:@[^\s/\"'<>`@.:]{1,40})?)@(?=[\w\[$<{])",
    re.IGNORECASE,
)
_NO_SCHEME = re.compile(
    r":(?P<password>[^\s:/@\"'<>`,;(){}]{6,80})@(?!sha\d)(?=[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?:[:/\s\"'`,;)]|\.?$)|(?:tcp|unix)\()",
    re.IGNORECASE,
)
_USER = re.compile(
    r"(?<![\w.+-])(?!(?:mailto|acct|sips?|xmpp|npm|git|image|uid|id|message-id|cid|urn)\b)[\w.@\\-]{0,40}[a-z]\w{0,30}\Z",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"(?:authorization|proxy-authorization)[\"']?\s{0,3}[:=,]\s{0,3}[\"']?"
    r"(?P<scheme>(?!aws4|signature|hmac|hawk|digest)[A-Za-z][A-Za-z0-9_-]{1,30})(?:\s{1,3}(?:token=|key=|apikey=|api_key=)?[\"']?|\s{0,3}[\"']\s?[+.]\s?[\"'])"
    r"(?P<value>[A-Za-z0-9+/=._~:-]{6,2000})",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"(?<![A-Za-z])bearer\s{1,3}(?P<value>[A-Za-z0-9+/=._~-]{20,2000})", re.IGNORECASE
)
_COOKIE = re.compile(r"=(?P<value>[A-Za-z0-9%._+/=-]{20,400})")
_COOKIE_NAME = re.compile(
    r"(?:sess(?:ion)?(?:[_-]?(?:id|token))?|connect\.sid|auth_?token|\.AspNet(?:Core)?\.\w{2,40}|remember_\w{2,60}|wordpress_(?:logged_in|sec)_\w{2,40}|steamLoginSecure|\.ROBLOSECURITY|SAPISID|__Secure-\dPSID|li_at)\Z",
    re.IGNORECASE,
)
_BARE_HEADER = re.compile(
    r"(?:authorization|x-[a-z-]{0,30}(?:key|token|secret|auth|password))[\"']?\s{0,3}[:,]\s{0,3}[\"']?(?P<value>[A-Za-z0-9+/=._~-]{20,2000})(?=[\s\"']|$)",
    re.IGNORECASE,
)
_QUERY = re.compile(
    r"[?&;](?:app_?id|appid|app_?key|key|apikey|api[_-]?token|access|token|sig|signature|auth|auth_?key|user_?key|code|secret|hapikey|subscription-key|wskey|authkey|k)="
    r"(?P<value>[A-Za-z0-9%._~+/-]{20,300}={0,2})",
    re.IGNORECASE,
)
_BYTE_LIST = re.compile(
    r"(?:key|secret|seed|private|psk|iv)\w{0,20}(?:\[\d{0,4}\])?\s?(?::[^=\n]{0,30}(?==)|:(?=\s?\[))?=?\s?(?:new\s)?(?:\[?\]?byte|bytes|bytearray|uint8_t|uint8array(?:\.from)?)?(?:\[\])?\s?\(?[\[{(]\s{0,8}"
    r"(?P<value>0x[0-9a-f]{2}(?:,\s{0,12}0x[0-9a-f]{2}){15,63}|\d{1,3}(?:,\s{0,12}\d{1,3}){15}(?:(?:,\s{0,12}\d{1,3}){8}|(?:,\s{0,12}\d{1,3}){16})?),?\s{0,8}[\]})]"
)


def find_in_requests(text: str) -> Iterator[Finding]:
    """Every secret that an address or a header gives away."""
    yield from _addresses(text)
    yield from unpublished(text, _headers(text))
    yield from unpublished(text, _parameters(text))


def _addresses(text: str) -> Iterator[Finding]:
    for match in _ADDRESS.finditer(text) if "://" in text else ():
        user, password = match["user"], match["password"]
        if user.lower() != password.lower() and not is_tame(password):
            yield secret(
                "connection_string", "an address with a password in it", match.span("password")
            )
    for match in _NO_SCHEME.finditer(text) if "@" in text else ():
        is_named = _USER.search(text, max(0, match.start() - 72), match.start())
        if is_named and is_mixed(match["password"]):
            what = "an address with a password in it"
            yield secret("connection_string", what, match.span("password"))


def is_tame(password: str) -> bool:
    """A word that manuals use in addresses, or no password at all."""
    tame = r"(?:my)?(?:pass|password|passwd|pwd|secret|token|pw|key|port|\d{1,5})"
    return is_stand_in(password) or re.fullmatch(tame, password, re.IGNORECASE) is not None


def _headers(text: str) -> Iterator[Finding]:
    low = lowered(text)
    headers = _HEADER.finditer(text) if "authorization" in low else ()
    bearers = _BEARER.finditer(text) if "bearer" in low else ()
    for match in (*headers, *bearers):
        value = match["value"].rstrip(".,;:")
        scheme = match.groupdict().get("scheme", "bearer").lower()
        if "basic" in scheme:
            live = is_live_pair(value)
        else:
            live = (
                is_random(value, at_least=12)
                and kinds_of_character(value) >= 2
                and not is_stand_in(value)
            )
        if live:
            yield secret(
                "authorization_header", "a header that signs somebody in", match.span("value")
            )
    for match in _BARE_HEADER.finditer(text) if "authorization" in low or "x-" in low else ():
        value = match["value"]
        if is_token(value):
            yield secret(
                "authorization_header", "a header that signs somebody in", match.span("value")
            )
    for match in _COOKIE.finditer(text):
        if not _COOKIE_NAME.search(text, max(0, match.start() - 80), match.start()):
            continue
        if is_random(match["value"], at_least=20) and not is_stand_in(match["value"]):
            yield secret("session_cookie", "the cookie of a session", match.span("value"))


def _parameters(text: str) -> Iterator[Finding]:
    """Keys that an address carries in its query, and keys that code lists byte by byte."""
    for match in _QUERY.finditer(text) if "=" in text and "://" in text else ():
        value = match["value"]
        if any(map(str.isdigit, value)) and is_token(value):
            what = "a key in the query of an address"
            yield secret("secret_assignment", what, match.span("value"))
    low = lowered(text)
    for match in _BYTE_LIST.finditer(low) if "0x" in low or ", " in low else ():
        if len(set(match["value"].lower().split(","))) >= 12:
            yield secret("secret_assignment", "the bytes of a key", match.span("value"))


def is_live_pair(encoded: str) -> bool:
    user, colon, password = decoded(encoded).partition(":")
    return bool(colon) and user != password and len(password) > 3 and not is_tame(password)
