"""Passwords that come a sentence after the word for them: "They changed it; now it is …"."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.password_words import COPULA, PASSWORD_NAME
from knowledge.screening.placeholders import (
    decoded,
    is_mixed,
    is_password,
    is_stand_in,
    is_token,
    kinds_of_character,
)
from knowledge.screening.secrets import secret

_REACH = 200
"""Characters from the word to the value."""

_NOW = (
    r"(?:now|again|still|simply|just|so|as follows|jetzt|nun|wieder|maintenant|désormais|ahora|agora|ora|adesso|nu|nyt|teraz|znowu|teď|nyní|zase|most|сега|сейчас|теперь|снова|тепер|знову|sada|zdaj|şimdi|artık|τώρα|bây giờ|sekarang|sasa"
    r"|this|the following|such|folgendes|celui-ci|este|esta|questa|questo|такий|такой|taki|takie|tento|toto|ez|το εξής)"
)
_SAID = re.compile(
    rf"(?:(?<=[\s\w)»”\"'])(?:[:：=]|[-=]?>|[→⇒])|(?<![^\W_])(?:{COPULA}|{_NOW})(?![^\W_]))\s{{1,3}}(?:{_NOW}:?\s{{1,3}})?[\"'`“„«*]{{0,2}}(?P<value>[^\s\"'`“”„«»,;()\[\]{{}}<>|]{{8,64}})"
)
_OTHER = re.compile(
    r"(?:user|login|account|konto|compte|cuenta|conta|utente|benutzer|usuari|użytkownik|uživatel|користувач|пользовател|логин|tunnus|host|server|machine|file|datei|fichier|ticket|issue|version|release|model|branch|tag\b|repo|commit|hash|digest|e-?mail|address|adresse|ssid|network name|policy|manager|vault|tool|app\b|page|link|url|id\b|number|nummer|version|algorithm|cipher|protocol|called|named|titled)"
    r"[^\n.!?:]{0,24}\Z",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"[A-Z]{1,6}[-_ ]?\d+(?:[-_.]\d+)*[A-Za-z]?|[A-Z]?[a-z]+[-_.]?v?\d{1,2}(?:\.\d+)*|\d{1,4}[A-Za-z]{1,3}|[A-Za-z]{1,2}\d+[A-Za-z]{0,2}|[A-Za-z]+[-_](?:19|20)\d\d|[0-9A-F]{2}(?::[0-9A-F]{2})+|[a-z]+\d+(?:[A-Z][a-z]+)+"
    r"|(?i:.*(?:sha-?\d|aes-?\d|oauth|base64|pbkdf|argon|bcrypt|utf-?\d|\bhttp|hmac|25519|pkcs|\bipv\d|k8s|i18n|a11y|wpa\d|802\.1|1password|cve-\d|cwe-\d|fido2).*)"
)
_ON_ITS_OWN = re.compile(
    r"^[ \t>]{0,8}[\"'`]?(?P<value>[^\s\"'`<>|(){}\[\]=/#]{8,64})[\"'`]?[ \t]{0,4}$", re.MULTILINE
)
_TWO_WORDS = re.compile(
    rf"\s(?:(?:{COPULA}|{_NOW})\s){{0,2}}[\"'`“„«*]{{0,2}}(?P<value>(?-i:[A-ZÀ-ÝА-Я][^\W\d_]{{3,20}}(?:[-_&+.!#][A-ZÀ-ÝА-Я][^\W\d_]{{3,20}}){{1,3}}))(?=[\s\"'`”“»,;.!?]|\Z)"
)
_NUMBER = re.compile(r"\s(?P<value>\d{6,12})(?![\w%]|[.,:/-]\d)")
_DISK = re.compile(
    r"\b(?:luks|veracrypt|truecrypt|bitlocker|filevault|keepass\w{0,2}|cryptsetup|encrypted (?:disk|drive|volume|stick)|verschlüsselt\w{0,3})\b[^\n]{0,80}?\b(?:type|enter|use|is|tippe|gib|lautet|tape[rz]?|teclea|digita)\s[\"'`“„«](?P<value>[^\"'`”“»\n]{8,60})[\"'`”“»]"
)
_APP_PASSWORD = re.compile(r"[\"'`:]\s?(?P<value>(?:[a-z]{4} ){3}[a-z]{4})[\"'`]?(?![a-z ])")
_REMARKED = re.compile(
    r"[\"'](?P<value>[A-Za-z0-9_-]{20,120})[\"'][^\n\"']{0,20}?(?:#|//|--|/\*)[^\n]{0,24}?\b(?:key|secret|token)\b"
)
_SIGNED_IN = re.compile(
    r"\blogin\b|smtp|imap|app[- ]?(?:specific )?pass|\bgmail|google|password|passwort"
)
_QUOTED = re.compile(
    r"(?<![\w-])(?:pw|pwd|pass|password|passphrase)(?:\s(?:is|was)|\s?[:=])\s{1,2}[\"“„«'`](?P<value>[^\"“”„«»'`\n]{8,60})[\"”“»'`]"
)
_KEY_IN_BASE64 = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,}={0,2}")
_MARKS = ".,;:!?*_)»”"


def find_announced(text: str, low: str) -> Iterator[Finding]:
    """Every password that stands near the word for one, by how it is introduced or laid out."""
    yield from _told_after(text, low)
    yield from _on_their_own(text, low)
    for match in _REMARKED.finditer(text):
        if is_token(match["value"]) and "public" not in low[match.end("value") : match.end()]:
            yield secret("secret_assignment", "a key that a remark names", match.span("value"))
    for match in _KEY_IN_BASE64.finditer(text):
        if "PRIVATE KEY" in decoded(match[0][:48]):
            yield secret("private_key", "a private key in base64", match.span())
    for match in _QUOTED.finditer(low):
        value = text[slice(*match.span("value"))]
        if is_password(value) and any(map(str.isdigit, value)):
            yield secret("told_password", "a password told in plain words", match.span("value"))
    for pattern in (_DISK, _APP_PASSWORD):
        for match in pattern.finditer(low):
            value = text[slice(*match.span("value"))]
            is_spoken_of = pattern is _DISK or _SIGNED_IN.search(
                low, max(0, match.start() - 160), match.end() + 60
            )
            if is_spoken_of and not is_stand_in(value):
                yield secret(
                    "told_password", "a password that its place gives away", match.span("value")
                )


def _on_their_own(text: str, low: str) -> Iterator[Finding]:
    """A value alone on its line, with the word for it above or below."""
    for match in _ON_ITS_OWN.finditer(text):
        value = match["value"].rstrip(_MARKS)
        if not is_mixed(value) or _LABEL.fullmatch(value) or kinds_of_character(value) < 3:
            continue
        start = match.start("value")
        if PASSWORD_NAME.search(low, max(0, start - 120), start) or PASSWORD_NAME.search(
            low, match.end(), match.end() + 80
        ):
            yield secret(
                "told_password", "a password on a line of its own", (start, start + len(value))
            )


def _told_after(text: str, low: str) -> Iterator[Finding]:
    seen = 0
    for name in PASSWORD_NAME.finditer(low):
        if name.start() < seen or not _stands_alone(low, *name.span()):
            continue
        if match := _TWO_WORDS.match(text, name.end()) or _NUMBER.match(text, name.end()):
            value = match["value"]
            if (
                not is_stand_in(value)
                and (len(set(value)) >= 4)
                and value not in "01234567890123456789"
            ):
                yield secret(
                    "told_password", "a password beside the word for it", match.span("value")
                )
                continue
        for match in _SAID.finditer(text, name.end(), name.end() + _REACH):
            value, start = match["value"].rstrip(_MARKS), match.start("value")
            if _is_given(text[name.end() : match.start()], value):
                seen = start + len(value)
                yield secret(
                    "told_password", "a password told after the word for it", (start, seen)
                )
                break


def _is_given(between: str, value: str) -> bool:
    return (
        len(value) >= 8
        and "/" not in value
        and is_mixed(value)
        and not _LABEL.fullmatch(value)
        and not _OTHER.search(between)
    )


def _stands_alone(low: str, start: int, end: int) -> bool:
    """Scripts without spaces, or with endings, have no other bounds than the word itself."""
    around = f"{low[start - 1 : start]}{low[end : end + 1]}"
    return ord(low[start]) >= 0x370 or not any(
        sign.isalnum() or sign in "_-." for sign in around[:1]
    )
