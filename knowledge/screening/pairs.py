"""Credentials that come in two: a name and its password, a key's id and its secret."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.addresses import is_live_pair
from knowledge.screening.findings import Finding
from knowledge.screening.password_words import ACCOUNT, SIGN_IN
from knowledge.screening.placeholders import (
    decoded,
    is_mixed,
    is_password,
    is_solid,
    is_stand_in,
    is_token,
    kinds_of_character,
)
from knowledge.screening.secrets import secret

_STRING = r"""(?:"[^"\n]{1,120}"|'[^'\n]{1,120}')"""
_CALL = re.compile(
    r"(?P<callee>[A-Za-z_][\w.:>-]{2,80})\(\s{0,20}(?P<before>(?:[$@&]?[\w.\[\]]{1,40},\s{0,20}|"
    + _STRING
    + r",\s{0,20}){0,2})"
    + _STRING
    + r"""\s{0,8},\s{0,20}(?:[a-z]\w{0,20}\s?[=:]\s?)?[@b]?(?P<mark>["'])(?P<bare>[^"'\n]{6,200})(?P=mark)\s{0,20}[,)]"""
)
_SIGNING_IN = re.compile(
    r"(?:log_?in|sign_?in|log_?on|auth\w*|authenticate|credentials?\w*|basic_?auth\w*|\w*credentials?|\w*auth|getconnection|set_?credentials|(?:http_?|set_?)?basic|user_?pass\w*|password_?auth\w*|auth_?password|bind|simple_bind(?:_s)?|(?:ftp|ssh2?|imap|smtp|pop3)_?(?:login|open|auth\w*)|with_?(?:credentials|basic_?auth))",
    re.IGNORECASE,
)
_DATABASE = re.compile(
    r"\w*connect(?:_?db)?|pdo|mysqli|\w*database|odbc_p?connect|open_?connection|create_?(?:connection|pool)|sequelize|dbi|sqlconnect|odbcdriverconnect",
    re.IGNORECASE,
)
"""Calls that sign in with what comes third: the place, the user, the password."""
_CLIENT = re.compile(
    r"\w*(?:client|session|api|account|connect(?:ion)?|twilio|service|sdk|config(?:ure)?|storage|wallet|keypair|signer|oauth\d?|bot)",
    re.IGNORECASE,
)
_MAKER = frozenset({"new", "create", "of", "from", "init", "build", "make", "open", "getinstance"})
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9+/]{12,300}={0,2}(?![A-Za-z0-9+/_-])")
_NAMED_PAIR = re.compile(r"[\w.@+-]{2,60}:[^\s:]{6,80}")
_SIGN_IN = re.compile(
    r"(?<![^\W_])(?:log-?ins?|credentials?|creds|log in with|sign in with|user(?:name)?\s?(?:/|\+|and|&)\s?pass(?:word|wd)?|zugang(?:sdaten)?|anmeldedaten|anmeldung|identifiants?|accès|acceso|credenciales|credenziali|accesso|acesso|credenciais"
    r"|inloggegevens|inlog|inloggning|innlogging|dane logowania|přihlašovací údaje|bejelentkezés|logowanie|giriş|вход|логин/пароль|доступ(?:ы)?|учетка|учётка|wi-?fi|wlan|账号密码|账号|ログイン|계정)(?![^\W_])"
    r"(?:[^\n:=]{0,40}[:=：]\s{0,3}|\s{0,2}(?:[—–→-]|->)\s{1,3}|\s{1,2}(?=[^\s/]{2,60}\s?/))[\"'`(]?(?P<user>[^\s/:|,\"'`]{2,60})[\"'`]?\s{0,2}(?P<by>/|:|\||,|\s-\s|\sand\s|\sund\s|\set\s|\sy\s|\se\s|\si\s|\sи\s|\s)\s{0,2}[\"'`]?(?P<bare>[^\s\"'`]{7,80})"
)
_NO_PASSWORD = re.compile(
    r"(?:https?:|www\.|/|~|\S+/\S+/|\d+[.:]\d).*|.*[\w-]\.(?:com|org|net|io|dev|local|[a-z]{2})(?:[:/].*)?|[\d./:-]+|.*@[\w-]+\.\w+|.*(?:\d{4}-\d\d-\d\d|\(|\)|=).*|[A-Za-z]{1,12}-?\d{1,4}|(?:[a-z]+[-_/])+[a-z]*\d*|(?:802|wpa|tls|oauth|saml|sso|sha|ipv)\S*",
    re.IGNORECASE,
)


_SLASHED = re.compile(
    r"(?<![\w/.])(?P<user>[\w.@=,-]{2,40})\s/\s[\"'`]?(?P<bare>[^\s\"'`/]{8,60})(?=[\"'`]?(?:[\s.,;:!?)]|$))"
)
_AFTER_AN_ADDRESS = re.compile(
    r"@[\w-]{1,60}(?:\.[\w-]{1,40}){1,5}[\"'`>)»”]{0,2}\s{0,2}(?:[/|,:;–—→-]{1,2}|->|\b(?:with|and|mit|und|avec|et|con|y|com|e|met|en|med|och|og|i|z|и|с)\b)\s{1,2}[\"'`“„«]?(?P<bare>[^\s\"'`“”„«»,;/]{8,60})"
)
_WITH = re.compile(
    r"\b(?:as|user|with|als|mit|comme|avec|como|con|come|com|som|med|met)\s[\"'`][\w.@-]{2,40}[\"'`]\s(?:with|and|mit|und|avec|et|con|y|com|e)\s[\"'`](?P<bare>[^\s\"'`]{8,60})[\"'`]"
)
_LABELLED = re.compile(r"[a-z][\w .-]{1,40}[:=]\s{1,2}[^\s:]{2,40}\s/\s[\"'`]?\Z")
_PRINTED = re.compile(
    r"(?:reset-password|initial-password|get-password|base64 (?:-d|-D|--decode)|get-secret-value|secrets versions access|vault (?:kv get|read)|op read|pass show|find-generic-password|kubectl [^\n]{0,80}get secret)[^\n]{0,160}\n"
    r"(?:(?i:observation|output|result|stdout|new value|value|new password)\s?:\s?|[>$] ?)?(?P<bare>[^\s\"'`]{8,60})(?=\n|$)"
)


def find_pairs(text: str, low: str) -> Iterator[Finding]:
    """Every second half of a pair that signs somebody in."""
    yield from _in_calls(text)
    yield from _encoded(text)
    yield from _told_apart(text, low)
    for match in _SIGN_IN.finditer(low):
        value = text[slice(*match.span("bare"))].rstrip(".,;:!?)")
        is_set_apart = match["by"] in ("/", "|", ":") and kinds_of_character(value) == 4
        if _is_unmistakable(value) or (is_set_apart and is_mixed(value)):
            start = match.start("bare")
            what = "a user's name with the password"
            yield secret("told_password", what, (start, start + len(value)))


def _told_apart(text: str, low: str) -> Iterator[Finding]:
    """Values that only their place gives away: behind a user's name, or a command that shows one."""
    for match in _AFTER_AN_ADDRESS.finditer(text) if "@" in text else ():
        value = match["bare"].rstrip(".,;:!?)")
        if kinds_of_character(value) == 4 and is_mixed(value) and not _is_a_label(value):
            start = match.start("bare")
            what = "a password behind the address that signs in"
            yield secret("told_password", what, (start, start + len(value)))
    for pattern in (_SLASHED, _WITH, _PRINTED) if " / " in text else (_WITH, _PRINTED):
        for match in pattern.finditer(text):
            value, start = match["bare"].rstrip(".,;:!?)"), match.start("bare")
            is_odd = kinds_of_character(value) == 4 and is_mixed(value) and not _is_a_label(value)
            is_telling = is_odd or is_solid(value)
            if pattern is _SLASHED and not _signs_in(low, start, is_telling=is_telling):
                continue
            # Quotation marks, or a line of its own, make a sign of equality part of the value.
            if is_telling or _is_unmistakable(value.replace("=", "+")):
                what = "a password that its place gives away"
                yield secret("told_password", what, (start, start + len(value)))


def _signs_in(low: str, start: int, *, is_telling: bool) -> bool:
    """Whether a name and what follows its slash sign in: the words before say so, or a label."""
    if SIGN_IN.search(low, max(0, start - 120), start):
        return True
    return is_telling and bool(
        ACCOUNT.search(low, max(0, start - 120), start)
        or _LABELLED.search(low, max(0, start - 90), start)
    )


def _is_a_label(value: str) -> bool:
    """Capitals or words with a number behind a dash, as tickets, hosts and models have."""
    return re.fullmatch(r"[A-Za-z]+-\d+|[A-Z\d]+(?:[-_][A-Z\d]+)*|\w+-\d\d?", value) is not None


def _in_calls(text: str) -> Iterator[Finding]:
    if "(" not in text:
        return
    for match in _CALL.finditer(text):
        value, callee = match["bare"], _callee(match["callee"])
        is_database = match["before"] and _DATABASE.fullmatch(callee)
        takes_password = is_database or _SIGNING_IN.fullmatch(callee)
        signs_in = takes_password and is_password(value) and _is_mixed(value)
        opens = _SIGNING_IN.fullmatch(callee) or _CLIENT.fullmatch(callee)
        if signs_in or (opens and len(value) >= 20 and is_token(value) and _has_digit(value)):
            what = "a secret among the arguments of a call"
            yield secret("secret_assignment", what, match.span("bare"))


def _callee(path: str) -> str:
    """The last name of a path; before `new` and its like, the class that is made."""
    names = [name for name in re.split(r"[.:>-]+", path) if name]
    if len(names) > 1 and names[-1].lower() in _MAKER:
        return names[-2]
    return names[-1]


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _is_mixed(value: str) -> bool:
    return kinds_of_character(value) >= 3 or (_has_digit(value) and kinds_of_character(value) >= 2)


def _encoded(text: str) -> Iterator[Finding]:
    """Base64 behind which stand a user and a password."""
    for match in _BASE64.finditer(text):
        plain = decoded(match[0])
        if not _NAMED_PAIR.fullmatch(plain) or not is_live_pair(match[0]):
            continue
        password = plain.partition(":")[2]
        if is_password(password) and _is_mixed(password):
            what = "a user and a password in base64"
            yield secret("authorization_header", what, match.span())


def _is_unmistakable(value: str) -> bool:
    if is_stand_in(value) or _NO_PASSWORD.fullmatch(value) or not is_password(value):
        return False
    return kinds_of_character(value) >= 3 and _has_digit(value)
