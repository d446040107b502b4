"""Passwords that their place gives away: after a user, a network, a machine, or by their mere look."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.password_words import ACCOUNT
from knowledge.screening.placeholders import is_mixed, kinds_of_character
from knowledge.screening.secrets import secret

LOOSE = re.compile(
    r"""
      (?:https?:|www\.).* | .*@[\w-]+\.\w.* | (?:[~.]{0,2}/|[A-Za-z]:\\).* | [\w-]+(?:/[\w.-]+){2,} | .*\.(?:com|org|net|io|py|js|ts|txt|json|ya?ml|env|pem|md|html|csv|pdf|docx?)(?:[:/?].*)?
    | v?\d+(?:[.,:/_-]\d+)*[A-Za-z%°€$]{0,4} | \d{4}-\d\d-\d\d.* | [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12} | [0-9a-f]{32,}
    | (?-i:[A-Z]?[a-z]+(?:[-_./][a-z]+)*-?\d?|[A-Z]+(?:[-_./][A-Z]+)*-?\d?) | .*[=(){}\[\]].* | --?\S* | [$#@&]\S*
    | .*(?:sha-?\d|\baes|\brsa|oauth|\brfc|base64|\btls|\bssl|pbkdf|argon|bcrypt|utf-?\d|\biso[-\d]|\bhttp|\bmd5|hmac|25519|x\.?509|ecdsa|\bnist|\bfips|pkcs|\bipv\d|k8s|i18n|a11y|\bs3|\bwpa\d|802\.1|ntlm|\bv\d|keepass|1password|owasp|cve-|cwe-).*
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Addresses, paths, versions, standards and plain words."""
PLAIN_LABEL = re.compile(
    r"[A-Z]+(?:[-_][A-Z\d]+)*[-_.\d]*|[A-Za-z]+[-_.]?v?\d+(?:[.-]\d+)*[a-z]?|[a-z]+(?:[-_][a-z]+)*[-_]\d+"
)
HAS_A_YEAR = re.compile(r"(?:19|20)\d\d")
_SHORT_NAME = re.compile(
    r"(?<![\w.$@/-])(?:(?P<sure>pw|psw|pswd|passw|storepass|keypass|bindpw|rootpw|pwd|mdp|pword|ww|kw|(?<=user )\S{1,30},? pass|(?<=user: )\S{1,30},? pass)|pass)(?![\w\\-])\.?(?:\s?[:=]\s?|(?(sure)[^\n:=]{1,40}[:=]\s?|(?!))|\s(?:is|ist|lautet|est|es|è|é|er|är|on)\s|(?(sure)\s|(?!)))[\"'`“„«]?(?P<value>[^\s\"'`“”„«»,;]{6,64})"
)
"""What people shorten it to; such a word names other things too, so the value must be mixed."""
_OF_A_NETWORK = re.compile(
    r"(?:wi-?fi|wlan|ssid|hotspot|network|netzwerk|réseau|netwerk|nätverk|nettverk|netværk|verkko|sieć|síť|hálózat|сеть|сети)\b[^\n]{0,60}?"
    r"\b(?:code|key|pw|pass|psk|pin|schlüssel|clé|clave|chiave|chave|sleutel|nyckel|nøgle|nøkkel|avain|kod|kode|koodi|klucz|klíč|kulcs|ключ|код|voucher)\b(?:\s?[:=]\s?|\s(?:is\s|ist\s|est\s|es\s|è\s)?)[\"'`“„«]?(?P<value>[^\s\"'`“”„«»,;]{8,63})"
)
_USER_THEN_PASSWORD = re.compile(
    r"(?:u|user|usr|login|id|acc(?:ount)?)\s?[:=]\s?[\w.@\\-]{1,40}[\s,;|/]{1,3}p\s?[:=]\s?[\"'`]?(?P<value>[^\s\"'`,;]{6,64})"
)
_IN_A_REMARK = re.compile(
    r"[\"'](?P<value>[^\s\"']{8,40})[\"'][^\n]{0,60}?(?:#|//|--|/\*)[^\n]{0,40}?\b(?:password|passwort|passphrase|mot de passe|contraseña|wachtwoord|parola|senha)"
)
_TYPED = re.compile(
    r"pass(?:word|wd|wort)?[\"'\]\s)]{0,6}(?:\.(?:type|send_?keys|fill|set_?value|val|input|enter_?text)\(|,)\s{0,3}[\"'](?P<value>[^\s\"'\n]{6,60})[\"']"
)
_OF_SNMP = re.compile(r"snmp[^\n]{0,80}?\b(?:auth|priv)\s[\"'`]?(?P<value>[^\s\"'`,;]{8,64})")
_OF_THE_MASTER = re.compile(
    r"(?<![\w.@/-])(?:admin(?:istrator)?|root|postgres|sysadmin|operator|superuser)\s?[,:;/|]\s?[\"'`]?(?P<value>[^\s\"'`,;|]{8,60})(?=[\s\"'`,;|.]|$)"
)
"""The users that every machine has, each with what comes after a mere comma or slash."""
_OF_A_MACHINE = re.compile(
    r"(?:\b(?:bios|uefi|cmos|ilo|idrac|ipmi|bmc)\b\s?(?:pw|admin|user|setup)?\s?[:=]|\b(?:changed|reset|set) to)\s[\"'`]?(?P<value>[^\s\"'`,;|]{8,60})"
)
_NAMED = (_SHORT_NAME, _OF_A_NETWORK, _USER_THEN_PASSWORD)
"""Places that a word for the password marks, so that a plain label is one too."""
_LOOSELY_JOINED = (_OF_THE_MASTER, _OF_A_MACHINE)
_PLACES = (
    (("pw", "pass", "psw", "pswd", "mdp", "pword", "ww", "kw"), _SHORT_NAME),
    (("fi", "wlan", "ssid", "spot", "netw", "netzw", "réseau", "nätverk", "nettverk", "verkko", "sieć", "síť", "hálózat", "сет"), _OF_A_NETWORK),
    (("p:", "p=", "p :", "p ="), _USER_THEN_PASSWORD),
    (("passw", "passphrase", "mot de passe", "contraseña", "wachtwoord", "parola", "senha"), _IN_A_REMARK),
    (("pass",), _TYPED),
    (("snmp",), _OF_SNMP),
    (("admin", "root", "postgres", "operator", "superuser"), _OF_THE_MASTER),
    (("bios", "uefi", "cmos", "ilo", "idrac", "ipmi", "bmc", "changed to", "set to"), _OF_A_MACHINE),
)  # fmt: skip
"""Each place with words of which one has to be in the text before it is searched."""
_ODD_SIGN = re.compile(r"[!#$%^&*+~?](?=[\w!#$%^&*+~?.-])|!(?<=\d!)(?=[\s,;.)]|$)")
_ODD = re.compile(
    r"(?=\D{0,40}\d)(?=[^a-zà-ɏ]{0,40}[a-zà-ɏ])(?=[^A-ZÀ-Ý]{0,40}[A-ZÀ-Ý])[^\W_]{2,30}(?:[!#$%^&*+~?@_.-]{1,2}[^\W_]{1,30}){1,6}[!#$%^&*+?]{0,2}"
)
_ODD_BUT_HONEST = re.compile(
    r"(?:ctrl|cmd|alt|shift|strg|win|super|option|control|meta|fn)\+.*|.*%[0-9a-f]{2}.*|[A-Z]\w*#[a-z_]\w*[!?]?|.*\.\w{2,5}[#?].*|fritz!.*|.*@[\w-]+\.\w+|[cf]#.*|c\+\+.*|.*[-_.]v?\d+\.\d+|[A-Za-z]+\d?(?:[+&*][A-Za-z]+\d?)+",
    re.IGNORECASE,
)
_PART_OF_MORE = re.compile(r"(?:^|\s)[/\\=(\[{<]\Z|[\w+/=.-]{12,}/\Z|[/+=]\w*/\Z|[=\\]\Z")
_VALUE_SIGN = re.compile(r"[^\s\"'`“”„«»「」<>|,;/\\=(){}\[\]，。、：:]")


def find_in_places(text: str, low: str) -> Iterator[Finding]:
    """Every password that stands where only a password stands."""
    for anchors, pattern in _PLACES:
        if any(anchor in low for anchor in anchors):
            yield from _at(pattern, text, low)
    yield from _odd_ones(text, low)


def _at(pattern: re.Pattern[str], text: str, low: str) -> Iterator[Finding]:
    for match in pattern.finditer(low):
        value, start = text[slice(*match.span("value"))].rstrip(".:?*_)"), match.start("value")
        if not is_mixed(value):
            continue
        if pattern not in _NAMED and (LOOSE.fullmatch(value) or PLAIN_LABEL.fullmatch(value)):
            continue
        if pattern not in _LOOSELY_JOINED or _is_telling(value, low, start):
            what = "a password that its place gives away"
            yield secret("told_password", what, (start, start + len(value)))


def _is_telling(value: str, low: str, start: int) -> bool:
    """Mixed in every way and without a year, where signing in is spoken of."""
    is_odd = kinds_of_character(value) == 4 and not HAS_A_YEAR.search(value)
    return is_odd and ACCOUNT.search(low, max(0, start - 100), start + 100) is not None


def _odd_ones(text: str, low: str) -> Iterator[Finding]:
    """A string mixed as only passwords are, where somebody speaks of signing in."""
    seen = 0
    for sign in _ODD_SIGN.finditer(text):
        start = end = sign.start()
        if start < seen:
            continue
        while start > 0 and sign.start() - start < 40 and _VALUE_SIGN.match(text, start - 1):
            start -= 1
        while end < len(text) and end - start < 64 and _VALUE_SIGN.match(text, end):
            end += 1
        seen = end
        value = "" if text[end : end + 1] in ("/", "=") else text[start:end].rstrip(".?")
        if (
            not 8 <= len(value) <= 40
            or not _ODD.fullmatch(value)
            or _ODD_BUT_HONEST.fullmatch(value)
        ):
            continue
        if (
            _PART_OF_MORE.search(text, max(0, start - 40), start)
            or not is_mixed(value)
            or not ACCOUNT.search(low, max(0, start - 120), start)
        ):
            continue
        yield secret(
            "told_password", "a password where signing in is spoken of", (start, start + len(value))
        )
