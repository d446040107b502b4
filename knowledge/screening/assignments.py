"""Passwords and keys by their place: after a name, in an address, a header or a manifest."""

import base64
import binascii
import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding, Span
from knowledge.screening.shapes import secret
from knowledge.screening.values import is_password, is_stand_in, is_strong_password, is_token

PLACE_RULES = (
    "connection_string",
    "authorization_header",
    "kubernetes_secret",
    "password_assignment",
    "secret_assignment",
    "otp_seed",
)

_PASSWORD_NAMES = """
    password passwd passphrase passcode passwort kennwort contraseña contrasena senha wachtwoord
    mot*de*passe motdepasse hasł haslo heslo jelsz salasana lösenord adgangskode passord şifre sifre
    parola lozinka geslo parool nenosiri kata*sandi mật*khẩu парол κωδικό סיסמ پسورد رمز*عبور
    كلمة*المرور पासवर्ड 密码 口令 パスワード 비밀번호 비번 암호 รหัสผ่าน
    pwd psk pass pw requirepass masterauth bindpw storepass
""".split()  # noqa: SIM905, many words
_SHORT_NAMES = ("pass", "pw", "pwd", "psk")
"""Names that are also parts of other words, whose value has to look the part."""
_TOKEN_NAMES = """
    secret token credential apikey api_key api-key api*key auth_key access_key accesskey access*key
    private_key private*key signing_key signingkey signing*key encryption_key
    encryptionkey master_key account_key shared_key license_key webhook_key service_key app_key
    aes_key aeskey hmac_key jwt_key admin_key session_key security_key dsn bearer cookie session
""".split()  # noqa: SIM905, many words
"""A star stands for a blank."""
_PASSWORD_NAMES, _TOKEN_NAMES = (
    [name.replace("*", " ") for name in names] for names in (_PASSWORD_NAMES, _TOKEN_NAMES)
)
_JOINT = re.compile(
    r"""(?P<tail>[\w.-]{0,24})["'`]?\]?\s{0,3}
    (?P<sign>:=|=>|->|=(?!=)|::?(?!:)|,(?=\s{0,4}["'])|：|,?\s{1,20}["']?value["']?\s?[=:])
    [ \t]{0,12}(?:[|>][-+]?[ \t]*\r?\n[ \t]{1,16}|\\?\r?\n[ \t]{0,16}(?=["'`]))?
    (?:[\w.:\[\]]{1,24}\(\s?)?(?:[rbfu@](?=["']))?(?=\S)""",
    re.VERBOSE,
)
_CALL = re.compile(r"""(?P<tail>\w{0,16})(?P<sign>\()\s{0,4}@?(?=["'])""")
_ELEMENT = re.compile(
    r"""(?P<tail>[\w.-]{0,16})(?P<sign>(?:</\w{1,12})?>)\s{0,8}(?:</?\w{1,12}>\s{0,8}){0,4}(?=[^\s<])"""
)
_WORDS = re.compile(
    r"""(?P<tail>\w{0,12})(?P<sign>)[ \t]{0,4}["'”»]?(?:,?[ \t]{1,4}[^\W\d]{1,16}){0,6}?"""
    r"""(?:[ \t]?[:：]|,)?[ \t]{0,4}(?<=[\s:：]|[^\x00-\x7f])[«„“"'‘`*]{0,2}\s?"""
    r"""(?=[^\s«„“"'`\d]{0,40}\d)"""
)
"""A password may be told in a sentence, a few words after its name."""
_SPOKEN_TOKEN = re.compile(r"(?=.*[A-Z])(?=.*[a-z])(?=.*\d)[\w+/=-]{20,}|0x[0-9a-f]{64}")
"""In a sentence a token has to look the part: a commit or an id may be spoken of as well."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_QUOTED = re.compile(
    r'"((?:[^"\\\n]|\\.){1,300})"|\'((?:[^\'\\\n]|\\.){1,300})\'|`([^`\n]{1,300})`'
)
_BARE = re.compile(r"""[^\s"'`<>,;«»“”„]{1,300}""")
_ABOUT = re.compile(
    r"(?:^|_)(?:public|publishable|site|page|next|cursor|csrf|xsrf|idempotency|sync|cache|lock|count"
    r"|max|min|limit"
    r"|length|len|size|ttl|expiry|expires|type|url|uri|endpoint|path|file|filename|num|total|budget"
    r"|per|hash|hashed"
    r"|digest|fingerprint|regex|pattern|prefix|suffix|header|field|param|column|label|policy|used"
    r"|input|output|stop"
    r"|start|end|eos|bos|pad|mask|arn|version|rotation|reset|forgot|strength|hint|prompt|name|names"
    r"|id|ids|rate"
    r"|by|com|tres|sur|under|over|low|high|band|multi|encrypted|sealed|attempts|age|storage|key_ref|ref"
    r"|class|grade|izer|ization)s?(?:_|$)"
)
"""Parts of a name that make its value no secret: `next_page_token`, `password_hash`."""

_ADDRESS = re.compile(
    r"(?P<user>[a-z][a-z0-9+.-]{1,30}://[^\s:/@'\"<>]{0,80}):(?P<value>[^\s/'\"<>]{3,120}?)@(?=[\w\[.-])",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"\b(?:authorization|auth|x-[\w-]{0,20}(?:key|token|auth|secret)|private-token)\b[\"']?\s?[:=]\s?[\"']?"
    r"(?:(?:bearer|basic|token|apikey|ssws|geniekey|bot|key|digest)\s{1,3})?(?P<value>[\w+/=.~:-]{12,4000})"
    r"|\bbearer\s{1,3}(?P<bearer>[\w+/=.~-]{16,4000})",
    re.IGNORECASE,
)
_SIGN_IN = re.compile(
    r"\b(?:curl|wget|http|xh)\b[^\n|;]{0,200}?\s(?:-u|--user|-a|--auth"
    r"|--proxy-user)[=\s]{0,3}['\"]?[^\s:'\"]{1,80}:"
    r"(?P<user>[^\s'\"]{3,200})"
    r"|\b(?:docker|podman|helm|oc|az|sshpass|mysql|mysqldump|mongosh|redis-cli|ldapsearch|plink|psql"
    r"|twine|ipmitool)\b"
    r"[^\n|;]{0,160}?\s(?:-p\s?|-P\s|-a\s|-w\s|-pw\s)['\"]?(?P<flag>[^\s'\"]{6,120})"
    r"|(?<![\w.:/-])[\w.*-]{2,120}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w-]{1,60}:(?P<pgpass>[^\s:'\"`]{6,120})"
    r"|\b(?:login|auth|connect|PasswordAuthentication|PDO|HTTPBasicAuth"
    r"|Client\.new)\s?=?\s?\([^()\n]{1,120}?,\s?"
    r"[\"'](?P<call>[^\"'\n]{8,120})[\"']\s?[,)]"
    r"|\b(?:login|username|user|usuario|benutzer|console)\b[^\n/]{0,40}\s/\s(?P<pair>[^\s'\"]{8,60})"
    r"|\b(?:sqlplus|rman|target|oracle:thin:)\s?[\w.]{1,40}/(?P<oracle>[^\s/@'\"]{6,60})@"
)
"""Commands, calls and files that take a user's name and then the password."""
_MANIFEST = re.compile(r"^[ \t]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?Secret\b", re.MULTILINE)
_MANIFEST_LINE = re.compile(
    r"^\s{1,12}[\"']?[\w.-]{1,80}[\"']?:\s{1,4}[\"']?(?P<value>[A-Za-z0-9+/]{8,4000}={0,2})[\"']?,?\s*$",
    re.MULTILINE,
)
_OTP = re.compile(
    r"otpauth://[^\s\"'<>]{0,200}?secret=(?P<value>[A-Za-z2-7]{16,128})", re.IGNORECASE
)


def find_assignments(text: str) -> Iterator[Finding]:
    """Every secret that an address, a header, a manifest or a name gives away."""
    if "://" in text:
        yield from _addresses(text)
    if "kind" in text and "Secret" in text and _MANIFEST.search(text):
        yield from _manifest(text)
    low = lower_in_place(text)
    yield from _headers(text, low)
    yield from _sign_ins(text)
    yield from _after_names(text, low, _PASSWORD_NAMES, "password_assignment")
    yield from _after_names(text, low, _TOKEN_NAMES, "secret_assignment")


def lower_in_place(text: str) -> str:
    """Lower case, character for character, so that places stay the same."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)


def _addresses(text: str) -> Iterator[Finding]:
    for match in _ADDRESS.finditer(text):
        value, user = match["value"], match["user"].rpartition("/")[2]
        is_plain = re.fullmatch(r"\d{1,5}|[a-z]{1,7}|[A-Z_]+", value)
        if value.lower() != user.lower() and not is_plain and not is_stand_in(value):
            what = "an address with its password"
            yield secret("connection_string", what, match.span("value"))
    for match in _OTP.finditer(text):
        if not is_stand_in(match["value"]):
            yield secret("otp_seed", "the seed of one-time codes", match.span("value"))


def _headers(text: str, low: str) -> Iterator[Finding]:
    has_header = any(word in low for word in ("auth", "bearer", "x-", "private-token"))
    for match in _HEADER.finditer(text) if has_header else ():
        group = match.lastgroup or ""
        value = match[group].rstrip(".")
        if is_token(value) or is_strong_password(_decode(value).partition(":")[2]):
            yield secret("authorization_header", "a header that signs in", match.span(group))


def _sign_ins(text: str) -> Iterator[Finding]:
    for match in _SIGN_IN.finditer(text):
        group = match.lastgroup or ""
        value = match[group]
        is_certain = group not in ("call", "pair") and is_password(value)
        if is_certain or is_strong_password(value) or is_token(value):
            what = "a password on a command line or in a call"
            yield secret("password_assignment", what, match.span(group))


def _manifest(text: str) -> Iterator[Finding]:
    for match in _MANIFEST_LINE.finditer(text):
        plain = _decode(match["value"]).strip()
        if len(plain) >= 6 and not is_stand_in(plain):
            yield secret("kubernetes_secret", "a value of a Kubernetes Secret", match.span("value"))


def _decode(encoded: str) -> str:
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _after_names(text: str, low: str, names: list[str], rule: str) -> Iterator[Finding]:
    for name in names:
        at = low.find(name)
        while at >= 0:
            end = at + len(name)
            if span := _value_after(text, at, name, is_password_name=rule == "password_assignment"):
                yield secret(rule, f"a value for “{name}”", span)
                end = span[1]
            at = low.find(name, end)


def _value_after(text: str, start: int, name: str, *, is_password_name: bool) -> Span | None:
    """Where the value of a name stands, if it has one that looks live."""
    end = start + len(name)
    joint = _JOINT.match(text, end) or _CALL.match(text, end) or _ELEMENT.match(text, end)
    if joint is None and name != "pass":
        joint = _WORDS.match(text, end)
    if joint is None or _is_about_something_else(text, start, name, joint["tail"]):
        return None
    value, at = _value_at(text, joint.end())
    is_live = _is_live_password if is_password_name else _is_live_token
    return (at, at + len(value)) if is_live(value, name, joint["sign"]) else None


def _is_live_password(value: str, name: str, sign: str) -> bool:
    if sign and name not in _SHORT_NAMES:
        return is_password(value) or is_strong_password(_decode(value))
    return is_strong_password(value)


def _is_live_token(value: str, name: str, sign: str) -> bool:
    if not sign and not _SPOKEN_TOKEN.fullmatch(value):
        return False
    if name == "session" and _UUID.fullmatch(value):
        return False  # An id: agent tools end commit messages with `Agent-Session: …`.
    return is_token(value) or (bool(sign) and name == "secret" and is_strong_password(value))


def _is_about_something_else(text: str, start: int, name: str, tail: str) -> bool:
    lead = re.search(r"[\w-]{0,40}\Z", text[max(0, start - 40) : start])
    before = lead[0] if lead else ""
    if len(before) == 40:
        return True  # letters within a long token
    is_camel_case = before[-1:].islower() and text[start].isupper()
    if name in ("pwd", "psk") and before[-1:].isalpha() and not is_camel_case:
        return True
    spelt = re.sub(r"(?<=[a-z])(?=[A-Z])|[-.]", "_", f"{before}_{tail}").lower()
    return _ABOUT.search(spelt) is not None


def _value_at(text: str, at: int) -> tuple[str, int]:
    if quoted := _QUOTED.match(text, at):
        group = quoted.lastindex or 0
        return quoted[group], quoted.start(group)
    bare = _BARE.match(text, at)
    value = bare[0].rstrip(".,;:)]}\\*") if bare else ""
    return value, at
