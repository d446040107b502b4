"""Secrets that stand close to the word for them, though no sign and no verb joins the two."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.pairs import find_pairs
from knowledge.screening.password_words import PASSWORD_NAME, SIGN_IN
from knowledge.screening.placeholders import (
    decoded,
    is_mixed,
    is_password,
    is_path,
    is_random,
    is_setting,
    is_solid,
    is_stand_in,
    is_token,
    kinds_of_character,
)
from knowledge.screening.places import HAS_A_YEAR, LOOSE, PLAIN_LABEL, find_in_places
from knowledge.screening.samples import unpublished
from knowledge.screening.secrets import secret
from knowledge.screening.tables import find_in_tables

_REACH = 90
"""How many characters after its name a value may stand, on the same line."""

_TOKEN_NAME = re.compile(
    r"(?<![^\W_])(?:(?:auth(?:entication)?|access|api|bearer|refresh|deploy|secret|signing|shared|master|account|license|bot|app|private|client|spend|view|wallet|signer)[ _-]?)?"
    r"(?:key[ _-]?secret|secret[ _-]?key|secret|token|key|auth|wif|tsig|genkey|(?<=private )(?:side|half|part))\b|schlüssel|clé (?:d'api|privée|secrète)|chiave (?:api|privata|segreta)|clave (?:de )?(?:api|privada|secreta)|chave (?:de )?(?:api|privada|secreta)"
    r"|ключ\w{0,2}|токен\w{0,2}|密钥|密鑰|私钥|私鑰|令牌|秘密鍵|トークン|シークレット|토큰|개인키|مفتاح|מפתח"
)
_AFTER_A_COLON = re.compile(
    r"(?P<between>[^\n:]{1,48})[:=]\s{1,3}[\"'`“„«]?(?P<value>[^\s\"'`“”„«»,;]{8,64})(?=[\s\"'`”“»,;.!?]|$)"
)
_NOT_GIVEN = re.compile(
    r"policy|polic|manager|rule|standard|reset|length|attempt|change|see\b|doc|ticket|version|hash|field|link|page|url|file|format|regel|richtlinie|siehe|link|règle|regla|error|must|should|strength|since|seit|updat|expire|guide|app\b|tool|type|column|method"
)
_CHANGED = re.compile(
    r"(?P<lead>[^\n.]{0,40}?)\b(?:to|in|auf|zu|en|a|para|na|на|naar|till|til|erre:?|в)\s[\"'`“„«]?(?P<value>[^\s\"'`“”„«»,;]{8,64})"
)
_CHANGES = re.compile(
    r"chang|alter|reset|geänd|ändere|gesetzt|neu\b|modif|cambi|mud[eoa]|zmieni|ustawi|změni|nastavi|смен|измен|поменя|verander|gewijzigd|ändra|endre|ændre|vaihdo|değiş|megváltoz"
)
_BELOW = re.compile(
    r"[^\n]{0,40}\b(?:below|unten|follows|folgt|next line|ci-dessous|abajo|sotto|abaixo|hieronder|nedan|nedenfor|poniżej|níže|alább|ниже)\b[^\n]{0,20}\n{1,3}[ \t>]{0,8}[\"'`]?(?P<value>[^\s\"'`]{6,64})[\"'`]?[ \t]{0,4}(?:\n|\Z)"
)
_VALUE = re.compile(r"[^\s\"'`“”„«»「」<>|,;(){}\[\]，。、]{8,80}")
_TOKEN = re.compile(r"(?P<value>[A-Za-z0-9_\-.+/=~]{20,200})(?![A-Za-z0-9_])")
_NEXT_TOKEN = re.compile(
    r"(?:[\s|:=—–(-]|(?:is|for|of|the|now|ist|est|es|è|é)\b|[是为為はが는은：]){0,8}(?P<words>(?:\S{1,20}[ \t]){0,2}?)[\"'`]?"
    + _TOKEN.pattern
)
_ANNOUNCED = re.compile(r"[^\n:=]{0,60}?[:=]\s?[\"'`]?(?=[A-Za-z0-9])")
_TOKEN_BEFORE = re.compile(
    r"(?<![\w./:@-])(?P<value>[A-Za-z0-9_-]{20,120})[\"'`)]{0,2}(?:,?\s(?:is|was|as)\s(?:the|our|my|its|their)\s|\s(?:the|our|my|its)\s|\s\(?)(?:[\w-]{1,16}\s){0,2}\Z"
)
_ABOUT_AFTER = re.compile(
    r"[^\n]{0,40}?(?:commit|digest|checksum|fingerprint|(?<!hmac-)sha-?\d|\bid\b|public)",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"gpg|pgp|eddsa|ecdsa|\brsa\b|signature|page[ _-]?token|next[ _-]?(?:page[ _-]?)?token|paginat|csrf|xsrf|cursor|continu|cache[\W_]|idempot|\bsync[\W_]|primary|foreign|partition|hash|digest|checksum|sha-?\d|md5|finger|commit|\bid\Z|uuid|publi[cs]|example|sample|format|regex|length|beispiel|ejemplo|exemple|esempio|пример",
    re.IGNORECASE,
)
_OF_A_NAME = re.compile(
    r"""
      (?:https?:|www\.).* | .*\.(?:[a-z]{2,4})(?:[:/?].*)? | .*[/\\=@]\w+\.\w.* | .*=.* | (?:[~.]{0,2}/|[A-Za-z]:\\).*
    | v?\d+(?:[.,:/_-]\d+)*[A-Za-z%°€$]{0,4} | \d{4}-\d\d-\d\d.* | [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12} | [0-9a-f]+
    | [A-Za-z]+(?:[-_.:][A-Za-z]+)*[-_.:]?v?\d+(?:[.-]\d+)*[a-z]?
    | [a-z]+(?:[-/][a-z]+)+-?\d* | \w*[_.]\w+[_.(]\w* | [a-z]+(?:-[a-z]+)*-?\d*
    | .*(?:sha-?\d|aes|rsa|oauth|rfc|base64|tls|ssl|pbkdf|argon|bcrypt|utf-?\d|iso[-\d]|http|md5|hmac|25519|x\.?509|ecdsa|nist|fips|pkcs|ipv\d|k8s|i18n|a11y|s3).*
    | [a-z]+(?:[A-Z][a-z0-9]+)+ | \#\S* | \$\S* | @\S* | --?\S*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORD_AND_NUMBER = re.compile(r"[A-Za-zÀ-ɏ]+\d+|\d+[A-Za-zÀ-ɏ]+")
_BESIDE = re.compile(
    r"[\s:=(（「“\"'`*„«»-]{1,5}(?P<value>[^\s\"'`“”„«»「」<>|,;(){}\[\]，。、]{6,64})"
)
_A_WORD_AWAY = re.compile(
    r"\s[^\W\d_]{2,16}\s[\"'`“„«]?(?P<value>[^\s\"'`“”„«»「」<>|,;(){}\[\]，。、]{8,64})"
)
_NAME_AND_YEAR = re.compile(r".*[A-Za-z][-_.](?:19|20)\d\d(?:[-_.]?[Qq][1-4])?")
_OWN_LINE = re.compile(
    r"(?:key|token|secret|password|passphrase|credential|schlüssel|passwort|kennwort|clé|mot de passe|clave|contraseña|chave|senha|chiave|ключ|токен|парол\w+|密钥|密码|令牌|キー|トークン|パスワード|키|토큰)"
    r"[^\n]{0,140}?[:：]?[ \t]*\n\s{0,8}(?:```\w{0,12}\n[ \t]*)?(?P<value>[A-Za-z0-9_\-.+/=~!@#$%^&*]{12,200})[ \t]*(?=\n|$)"
)


def find_near(text: str, low: str) -> Iterator[Finding]:
    """Every live value that follows its name on the line, or stands below it in a table."""
    yield from unpublished(text, _near(text, low))
    yield from unpublished(text, find_pairs(text, low))
    yield from find_in_tables(text, low)


def _near(text: str, low: str) -> Iterator[Finding]:
    yield from _passwords(text, low)
    yield from find_in_places(text, low)
    yield from _tokens(text, low)
    yield from _on_their_own_line(text, low)


def _passwords(text: str, low: str) -> Iterator[Finding]:
    for name in PASSWORD_NAME.finditer(low):
        if not _stands_alone(text, *name.span()) or text[name.end() : name.end() + 1] == "(":
            continue
        span = (
            _beside(text, low, name.end())
            or _a_word_away(text, low, name.end())
            or _after_a_colon(text, low, name.end())
            or _changed(text, low, *name.span())
        )
        if span:
            yield secret("told_password", "a password beside the word for it", span)
            continue
        end = _end_of_line(text, name.end())
        for match in _VALUE.finditer(text, name.end(), end):
            value = match[0].strip(".:!?*_")
            if _is_unmistakable(value):
                start = match.start() + match[0].index(value)
                yield secret(
                    "told_password",
                    "a password beside the word for it",
                    (start, start + len(value)),
                )
                break


def _a_word_away(text: str, low: str, at: int) -> tuple[int, int] | None:
    """The value that a verb, and nothing else, parts from its name."""
    match = _A_WORD_AWAY.match(text, at)
    if match is None:
        return None
    value = match["value"].rstrip(".:!?*_")
    is_telling = is_password(value) and kinds_of_character(value) == 4 and len(value) >= 8
    if not is_telling or LOOSE.fullmatch(value) or _NAME_AND_YEAR.fullmatch(value):
        return None
    if not SIGN_IN.search(low, max(0, at - 100), at + 100):
        return None
    return match.start("value"), match.start("value") + len(value)


def _after_a_colon(text: str, low: str, at: int) -> tuple[int, int] | None:
    """The value that a colon announces, or that stands below on a line of its own."""
    for pattern in (_AFTER_A_COLON, _BELOW):
        match = pattern.match(low, at)
        if match is None or _NOT_GIVEN.search(match.groupdict().get("between", "")):
            continue
        value, start = text[slice(*match.span("value"))].rstrip(".:!?*_"), match.start("value")
        is_label = pattern is _AFTER_A_COLON and PLAIN_LABEL.fullmatch(value)
        if is_mixed(value) and not LOOSE.fullmatch(value) and not is_label:
            return start, start + len(value)
    return None


def _changed(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """What a sentence says that the password was changed to."""
    match = _CHANGED.match(low, end)
    if match is None or not _CHANGES.search(low, max(0, start - 40), match.end() + 24):
        return None
    value, at = text[slice(*match.span("value"))].rstrip(".:!?*_"), match.start("value")
    is_telling = kinds_of_character(value) == 4 and is_mixed(value) and not HAS_A_YEAR.search(value)
    return (at, at + len(value)) if is_telling and not PLAIN_LABEL.fullmatch(value) else None


def _beside(text: str, low: str, at: int) -> tuple[int, int] | None:
    """The value that directly follows its name, and is no version, path or standard."""
    match = _BESIDE.match(text, at)
    if match is None:
        return None
    value = match["value"].rstrip(".:!?*_")
    if not is_password(value) or LOOSE.fullmatch(value) or not _is_mixed(value):
        return None
    if _WORD_AND_NUMBER.fullmatch(value) and not SIGN_IN.search(low, max(0, at - 100), at + 100):
        return None
    return match.start("value"), match.start("value") + len(value)


def _is_mixed(value: str) -> bool:
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return has_both and (kinds_of_character(value) >= 3 or len(value) >= 8)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """No part of a longer word; scripts without spaces, or with endings, have no such bounds."""
    before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
    is_member = after == "." and text[end + 1 : end + 2].isalpha()
    if before in "-_" and _TO_BE_FILLED_IN.search(text, max(0, start - 12), start):
        return False
    return ord(text[start]) >= 0x370 or not (before.isalnum() or after.isalnum() or is_member)


_TO_BE_FILLED_IN = re.compile(
    r"(?:your|my|the|some|insert|enter|change|replace)[-_]\Z", re.IGNORECASE
)


def _end_of_line(text: str, start: int) -> int:
    newline = text.find("\n", start, start + _REACH)
    return newline if newline >= 0 else min(len(text), start + _REACH)


def _is_unmistakable(value: str) -> bool:
    """Mixed as only a password is: no version, date, path, address, identifier or standard."""
    if not 8 <= len(value) <= 64 or is_stand_in(value) or _OF_A_NAME.fullmatch(value):
        return False
    if _NAME_AND_YEAR.fullmatch(value):
        return False
    return (
        kinds_of_character(value) >= 3
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and is_password(value)
    )


def _tokens(text: str, low: str) -> Iterator[Finding]:
    for name in _TOKEN_NAME.finditer(low):
        match = _token_after(text, name.end()) or _token_before(text, name.start())
        if match is None:
            continue
        value, is_after = match["value"].rstrip(".-=/"), match.start() >= name.end()
        first, last = (
            (name.start() - 40, match.start()) if is_after else (match.end("value"), name.end())
        )
        if _ABOUT.search(text, max(0, first), last):
            continue
        if is_after and _FINGERPRINT.fullmatch(text, name.end(), match.end("value")):
            continue
        if _is_a_key(value, is_after=is_after) and not _ABOUT_AFTER.match(
            text, match.end() if is_after else name.end()
        ):
            yield secret(
                "secret_assignment", "a token or key beside the word for it", match.span("value")
            )


def _token_after(text: str, at: int) -> re.Match[str] | None:
    match = _NEXT_TOKEN.match(text, at)
    if match and (not match["words"] or is_solid(match["value"])):
        return match
    announced = _ANNOUNCED.match(text, at)
    return _TOKEN.match(text, announced.end()) if announced else None


def _token_before(text: str, end: int) -> re.Match[str] | None:
    start = max(0, end - 160)
    if all(len(word) < 20 for word in text[start:end].split()):
        return None
    return _TOKEN_BEFORE.search(text, start, end)


def _is_a_key(value: str, *, is_after: bool) -> bool:
    if is_stand_in(value) or is_path(value) or decoded(value) or is_setting(value):
        return False
    if _JOINED_WORDS.fullmatch(value):
        return False
    has_digit = any(map(str.isdigit, value))
    return is_random(value, at_least=20) and (has_digit or not is_after)


_JOINED_WORDS = re.compile(r"[a-z]+\d{0,4}(?:[-_.][a-z]+\d{0,4}){2,}")
"""As algorithms and machines are named."""
_FINGERPRINT = re.compile(r" [0-9A-F]{40}\Z")
"""How people name a public key: in capitals, right behind the word."""


def _on_their_own_line(text: str, low: str) -> Iterator[Finding]:
    """A token alone on the line below the sentence that announces it."""
    for match in _OWN_LINE.finditer(low):
        value = text[slice(*match.span("value"))]
        is_about = _ABOUT.search(low, max(0, match.start() - 60), match.start("value"))
        is_live = is_token(value) and any(map(str.isdigit, value)) and not is_setting(value)
        if is_live and not is_about:
            yield secret("secret_assignment", "a token or key on its own line", match.span("value"))
