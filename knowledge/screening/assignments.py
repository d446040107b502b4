"""Passwords and keys that are given a value: in configuration and code."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.addresses import find_in_requests
from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import (
    decoded,
    is_mixed,
    is_password,
    is_path,
    is_random,
    is_stand_in,
    is_token,
    kinds_of_character,
    lowered,
)
from knowledge.screening.samples import unpublished
from knowledge.screening.secrets import secret

_PASSWORD_NAME = re.compile(
    r"pass(?:word|wd|phrase|code|wort)|kennwort|contrase(?:ñ|n)a|senha|wachtwoord|mot_?de_?passe|ha[sś][lł]o|heslo|jelsz[oó]"
    r"|salasana|l[oö]senord|adgangskode|passord|[sş]ifre|parola|lozinka|geslo|parool|mdp(?![a-z])|clave(?![a-z])|pre[-_]?shared[-_]?(?:key|secret)"
    r"|pass?w(?![a-z])|pw(?![a-z])|ps?wd|pswd|pword|pass(?![a-z])|psk|requirepass|masterauth"
)
_TOKEN_NAME = re.compile(
    r"secret|token|credential|apikey|(?:api|auth|access|private|signing|encrypt(?:ion)?|master|account"
    r"|storage|shared|session|license|hmac|webhook|service|deploy|app|jwt|subscription|aes|cipher|crypto?|enc|sign|root|admin|consumer|write|ingest|tenant|security|bot|user|activation)[_\-. ]?key"
    r"|_key|auth(?![a-z])|bearer|salt|pepper|seed|dsn|webhook"
)
_LEAD = re.compile(r"[A-Za-z0-9_.\-]{0,60}\Z")
_WRAPPED = r"""(?:[|>][-+]?[ \t]*\n\s{1,12}|[rbfu@](?=["'])
      |(?:\[\]byte|bytes(?:\.fromhex)?|bytearray(?:\.fromhex)?|(?:binascii\.)?unhexlify|(?:base64\.)?b64decode|atob|Buffer\.from|String(?:::from)?|str|Some|SecretStr|Secret(?:String)?(?:::new)?|hex\.DecodeString
      |(?:new\ )?[A-Za-z]{0,20}KeySpec|(?:\w{1,20}\.){0,3}GetBytes|Uint8Array\.from|TextEncoder\(\)\.encode|Data|Bytes(?:::from_static)?|Key(?:::from_slice)?|Fernet|md5|sha\d{0,3}|password|crypt|make_password|password_hash|generate_password_hash|hash_password|bcrypt\.hash(?:pw|Sync)?)\(\s?[b@]?(?=["']))?"""
_TAIL = r"""(?P<tail>[_-]?(?:access_?key|key|value|string|text|base64|b64|hex|prod|production|live|staging|dev
      |test|new|old|id|[A-Za-z0-9]{1,4})?)"""
_JOINT = re.compile(
    rf"""{_TAIL}["'`]?\]?\s{{0,3}}(?::=|=>|->|=(?!=)|:(?!:)|::(?=\ [A-Za-z0-9+/]{{8,}}={{0,2}}(?:\s|\Z)))
    [ \t]{{0,12}}(?:\\?\r?\n[ \t]{{0,16}}(?=[rbfu@]?["']))?{_WRAPPED}""",
    re.VERBOSE | re.IGNORECASE,
)
_LISTED = re.compile(
    rf"""{_TAIL}["'`]\s{{0,3}},\s{{0,12}}(?=[rbfu@]?["']){_WRAPPED}""", re.VERBOSE | re.IGNORECASE
)
"""As in `define('DB_PASSWORD', '…')` and `put("token", "…")`."""
_FIRST_ARGUMENT = re.compile(r"""\(\s{0,6}[rbfu@]?["'`]\Z""")
_SNAKE = re.compile(r"[a-z0-9]+(?:[_:.-][a-z0-9]+){2,}")
_CALLED = re.compile(r"""(?P<tail>)\(\s{0,4}@?(?=["'])""")
_BLANK = re.compile(r"""(?P<tail>\w{0,12})[ \t]{1,20}(?![=:|(]|-{1,2}[A-Za-z])""")
_FLAG = re.compile(r"(?:^|[\s\"'`(\[,])(?:--?|/)[A-Za-z0-9_.-]{0,40}\Z")
_CALLEE = re.compile(
    r"(?:^|[^\w])(?:set_?|with_?|use_?|using_?|add_?)?(?:db|smtp|admin|user|client|auth|access|api|bot|proxy|basic|store|key)?_?\Z",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"[ \t>*+-]{0,12}(?:(?:set|option|#?define|local|export|let)[ \t]+)?[@:$]?[A-Za-z0-9_./:-]{0,60}\Z"
)
_REST_OF_LINE = re.compile(
    r"[\"'`]?[ \t]{0,8}(?:[;,\\][^\n]{0,80}|#[^\n]{0,120}|//[^\n]{0,120})?(?:\r?\n|\Z)"
)
_QUOTED = re.compile(
    r'"((?:[^"\\\n]|\\.){1,300})"|\'((?:[^\'\\\n]|\\.){1,300})\'|`([^`\n]{1,300})`'
)
_BARE = re.compile(r"""[^\s"'`<>,;]{1,300}""")
_WHOLE_LINE = re.compile(r"""[^\s"`]{6,200}(?=[ \t]{0,8}(?:\r?\n|\Z))""")
_ESCAPED_QUOTE = re.compile(r'\\"([^"\\\n]{1,300})\\"')
_CALL_WITH_MEMBER = re.compile(r"[A-Za-z_][\w.]{2,60}\([a-z_]\w*\.\w")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OF_EVERYBODY = re.compile(
    r"public|publishable|published|site|page|next|nextpage|cursor|continuation|continue|csrf|xsrf|idempotency|idempotent|sync|cache|lock|change"
    r"|count|max|min|limit|length|len|size|ttl|expiry|expires|expiration|exp|type|url|uri|endpoint|path|file|filename|num|total"
    r"|budget|per|hash|hashed|digest|fingerprint|checksum|regex|pattern|prefix|suffix|header|field|param|column|label|policy|used"
    r"|in|out|input|output|stop|start|end|sep|cls|eos|bos|pad|unk|mask|author|arn|version|rotation|reset|forgot|strength|hint|prompt|name"
)
"""Whole words of a name that make a token, a seed or a salt no secret."""
_KEYS_OF_EVERYBODY = re.compile(
    r"public|publishable|published|site|host|primary|foreign|partition|sort|object|cache|map|dict|by|group"
)
_AFTER_THE_NAME = re.compile(r"name|url|uri|path|file|type|hash|size|ttl|len|exp|min|max|age|hint")
_ABOUT_A_PASSWORD = re.compile(
    r"hashed|encrypted|hash|forgot|reset|regex|pattern|label|hint|prompt|no"
)
_NO_PASS = re.compile(
    r"(?:by|com|sur|tres|under|over|low|high|band|all|im|multi|single|render|forward|backward|first|second|last|kee|one|two|each)_?\Z",
    re.IGNORECASE,
)
_PAGE_TOKEN = re.compile(r"csrf|xsrf|authenticity|verification|nonce|page|public", re.IGNORECASE)
_ELEMENT = (
    r"(?:password|pass|passwd|pwd|secret|token|apikey|api-key|passphrase|privatekey)(?![\w.-])"
)
_XML = re.compile(
    _ELEMENT
    + r"[^<>]{0,120}>\s{0,20}(?:<(?:value|string|plain)>\s{0,20}|<!\[cdata\[)?"
    + r"(?P<value>[^<>\s][^<>\n]{4,200}?)\s{0,20}<"
)
_NEXT_CELL = re.compile(
    _ELEMENT
    + r"\s?:?\s?</\w{1,10}>\s{0,20}(?:</?\w{1,12}[^<>]{0,80}>\s{0,20}){0,4}(?P<value>[^<>\s]{6,80})\s{0,20}<"
)
_KEY_VALUE_PAIR = re.compile(
    r"""(?:key|name)["']?\s?[=:]\s?["']?[\w.:-]{0,60}?(?:password|pwd|secret|token|api_?key|key)["']?
    [,\s]{1,40}["']?value["']?\s?[=:]\s?["']?(?P<value>[^"'\s]{6,200}|(?<=["'])[^"'\n]{6,200})""",
    re.VERBOSE,
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
    low = lowered(text)
    marked = (*_XML.finditer(low), *_NEXT_CELL.finditer(low)) if "</" in text else ()
    for match in (*marked, *_KEY_VALUE_PAIR.finditer(low)):
        value = text[slice(*match.span("value"))]
        if _PAGE_TOKEN.search(text, match.start(), match.start("value")):
            continue
        if (
            is_password(value) or is_random(value) or is_password(decoded(value))
        ) and not is_stand_in(value):
            what = "a value for a password or key"
            yield secret("password_assignment", what, match.span("value"))


def _assignments(text: str) -> Iterator[Finding]:
    low = lowered(text)
    for names, rule, is_live in (
        (_PASSWORD_NAME, "password_assignment", _is_given_password),
        (_TOKEN_NAME, "secret_assignment", _is_token),
    ):
        seen = 0
        for name in names.finditer(low):
            if name.start() < seen:
                continue
            lead = _LEAD.search(text, max(0, name.start() - 60), name.start())
            joint = _joint(text, name, lead[0] if lead else "")
            if joint is None or lead is None or _is_harmless(text, name, lead[0], joint["tail"]):
                continue
            for value, span, quoted in _values_at(text, joint.end()):
                seen = span[1]
                if _fits(text, joint, value, span, quoted=quoted) and is_live(
                    value, name[0], quoted=quoted
                ):
                    is_argument = joint.re is _BLANK and _FLAG.search(
                        text, max(0, name.start() - 48), name.start()
                    )
                    yield secret(
                        "command_line_password" if is_argument else rule,
                        f"a value for “{name[0]}”",
                        span,
                    )
                    break


def _joint(text: str, name: re.Match[str], lead: str) -> re.Match[str] | None:
    """What stands between a name and its value; a blank alone joins them in few places."""
    if joint := _JOINT.match(text, name.end()):
        return joint
    if joint := _LISTED.match(text, name.end()):
        opening = name.start() - len(lead)
        return joint if _FIRST_ARGUMENT.search(text, max(0, opening - 8), opening) else None
    if joint := _CALLED.match(text, name.end()):
        before = text[max(0, name.start() - 24) : name.start()]
        return joint if _CALLEE.search(before) else None
    joint = _BLANK.match(text, name.end())
    if joint is None or (joint["tail"][:1].islower() and len(joint["tail"]) > 4):
        return None
    line = text.rfind("\n", max(0, name.start() - 80), name.start()) + 1
    if _FLAG.search(text, max(0, name.start() - 48), name.start()):
        return joint
    is_at_start = line > 0 or name.start() < 80
    return joint if is_at_start and _DIRECTIVE.fullmatch(text, line, name.start()) else None


def _fits(
    text: str, joint: re.Match[str], value: str, span: tuple[int, int], *, quoted: bool
) -> bool:
    """A value without a sign before it has to look the part, and a directive ends with its line."""
    if joint.re is _LISTED or joint.re is _CALLED:
        return " " not in value and not _SNAKE.fullmatch(value)
    if joint.re is not _BLANK:
        return True
    if not quoted and not is_mixed(value):
        return False
    is_argument = _FLAG.search(text, max(0, joint.start() - 60), joint.start())
    return bool(is_argument) or _REST_OF_LINE.match(text, span[1]) is not None


def _is_harmless(text: str, name: re.Match[str], lead: str, tail: str) -> bool:
    is_glued = lead[-1:].isalpha() and not (lead[-1:].islower() and text[name.start()].isupper())
    if is_glued and name[0] in ("psk", "seed", "salt", "auth"):
        return True
    if name[0] == "pass" and _NO_PASS.search(lead):
        return True
    if _has_word(tail, _AFTER_THE_NAME):
        return True
    if _PASSWORD_NAME.fullmatch(name[0]):
        words = _ABOUT_A_PASSWORD
    else:
        words = _KEYS_OF_EVERYBODY if name[0].endswith("key") else _OF_EVERYBODY
    return _has_word(lead.rpartition(".")[2], words)


def _has_word(name: str, words: re.Pattern[str]) -> bool:
    """Whether one of the words is a whole part of a name, as `min` is of minLength, not of admin."""
    return any(words.fullmatch(part.lower()) for part in _NAME_PART.findall(name))


def _values_at(text: str, at: int) -> Iterator[tuple[str, tuple[int, int], bool]]:
    for pattern, quoted in (
        (_ESCAPED_QUOTE, True),
        (_QUOTED, True),
        (_BARE, False),
        (_WHOLE_LINE, False),
    ):
        if match := pattern.match(text, at):
            group = match.lastindex or 0
            value, start = match[group], match.start(group)
            bare = value if quoted else value.rstrip(".,;:)]}\\")
            yield bare, (start, start + len(bare)), quoted
            if quoted:
                return


def _is_given_password(value: str, _: str, *, quoted: bool) -> bool:
    if quoted:
        return is_password(value.replace("=", "+"))
    if is_path(value) or _CALL_WITH_MEMBER.match(value):
        return False
    return is_password(value) or is_mixed(decoded(value))


def _is_token(value: str, name: str, *, quoted: bool) -> bool:
    if is_token(value) or (
        quoted
        and len(value) >= 40
        and kinds_of_character(value) == 4
        and is_token(value.replace("(", "+"))
    ):
        return True
    # A secret that two machines share was often made up by a person.
    return name == "secret" and kinds_of_character(value) == 4 and is_mixed(value)
