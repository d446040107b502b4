"""Secrets that somebody tells in plain words: passwords, codes, recovery and seed phrases."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.assignments import lowered
from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import (
    is_masked,
    is_password,
    is_random,
    is_stand_in,
    kinds_of_character,
)
from knowledge.screening.secrets import secret

_NAMES = (
    r"pass[ -]?(?:word|phrase|code|wort)s?|pwd|passwd|kennwort|kennwörter|mots?\ de\ passe|contrase[ñn]as?|clave"
    r"|senhas?|palavra-passe|parola(?:\ d'ordine)?|wachtwoord|toegangscode|lösenord(?:et)?|adgangskode(?:n)?"
    r"|passord(?:et)?|salasana|hasło|heslo|jelszó|lozinka|geslo|parool|slaptažodis|parole|κωδικός|συνθηματικό"
    r"|парол[ьяюе]м?|гасло|şifre(?:si)?|parolası|mật\ khẩu|kata\ sandi|sandi|คำ?รหัสผ่าน|รหัสผ่าน|密码|密碼|口令|暗号"
    r"|パスワード|パスフレーズ|合言葉|비밀번호|암호|패스워드|كلمة\ (?:ال)?(?:مرور|سر)|رمز\ عبور|گذرواژه|پاس\ ?ورڈ|סיסמ[הא]"
    r"|पासवर्ड|কূটশব্দ|পাসওয়ার্ড|கடவுச்சொல்|login\ code|access\ code|zugangscode|unlock\ code|secret"
    r"|(?:api|access|secret|license|product|auth|signing)[ -]?(?:key|token|secret|code)|token|key|schlüssel"
    r"|clé(?:\ d'api)?|chiave|llave|chave|ключ|密钥|キー|키"
)
_NAME = re.compile(_NAMES.replace("\\ ", " "))
_TOLD = re.compile(
    r"""(?P<between>(?:[ \t]+(?!is\b|=)[^\s:=.,;!?"'`“„«]{1,24}){0,7}?)
    [ \t]{0,3}
    (?P<joint>:|=|：|—|–|->|→|\b(?:is|was|are|lautet|ist|heißt|war|est|était|es|era|é|è|sono|are|to|is\ now|jest|to|är|er|on
      |là|adalah|ialah|olarak|это|будет|reads|became|stays|remains|set\ to|changed\ to|reset\ to|now)\b
      |是|为|為|は|が|는|은|هي|هو|است|ہے|है|হল|\n)
    [ \t]{0,3}(?:still|now|currently|jetzt|nun|maintenant|ahora|agora|ora|nu|teraz|теперь|сейчас|현재|today|simply|just)?
    [ \t]{0,3}\n?[ \t]{0,3}
    (?:"(?P<q1>[^"\n]{4,120})"|'(?P<q2>[^'\n]{4,120})'|`(?P<q3>[^`\n]{4,120})`|“(?P<q4>[^”\n]{4,120})”|„(?P<q5>[^“”\n]{4,120})[“”]
      |«\s?(?P<q6>[^»\n]{4,120}?)\s?»|「(?P<q7>[^」\n]{4,80})」|‘(?P<q8>[^’\n]{4,80})’|\*\*(?P<q9>[^*\n]{4,80})\*\*
      |(?P<bare>[^\s"'`“„«「，。、<>]{4,160}))""",
    re.VERBOSE | re.IGNORECASE,
)
_VALUES = frozenset({"bare", *(f"q{number}" for number in range(1, 10))})
_USE = re.compile(
    r"(?:log(?:ged)? ?in|sign(?:ed)? ?in|connect|unlock|decrypt|open(?:s)?|anmelden|connecte[rz]?)"
    r"\b[^\n.]{0,80}?\b(?:with|using|mit|avec|con)\s[^\n.]{0,60}?(?:\band\b|/|\bund\b|\bet\b|\by\b)\s"
    r"(?:the\s)?(?:password\s|passwort\s)?[\"'`“„«]?(?P<bare>[^\s\"'`”“»]{8,80})",
)
_AFTER = re.compile(
    r"[\"'`“„«](?P<bare>[^\s\"'`“”„«»]{6,80})[\"'`”“»]\s{1,2}(?:as (?:the|a|its|my|our) |is (?:the|my|our|its) |als )"
    r"(?:\w{1,20} ){0,3}(?:password|passphrase|passwort|kennwort|token|api key|pin)\b",
)
_PIN = re.compile(
    r"\b(?:pin|(?:alarm|door|safe|gate|sim|card|bank|unlock|security|lock|entry|key ?pad|vault|access)[ -](?:code|pin|combination)"
    r"|combination|geheimzahl|türcode|digicode|cvv|cvc)\b[^\n.:=]{0,30}?(?::|=|\bis\b|\bist\b|\best\b|\bes\b)\s{0,3}"
    r"(?P<bare>\d{3,4}(?:[ -]?\d{1,4}){0,3}[#*]?)(?![\w:.%€$])",
)
_CODES = re.compile(
    r"(?:recovery|backup|back-up|rescue|scratch|emergency|one-time|2fa|mfa|wiederherstellungs|ersatz|notfall)"
    r"[ -]?(?:codes?|keys?)|codes? de (?:secours|récupération|recuperación|respaldo)|códigos? de (?:recupera|respaldo|backup)\w*"
    r"|резервные коды|коды восстановления|恢复代码|备用验证码|リカバリーコード|バックアップコード|복구 코드",
)
_CODE = re.compile(
    r"(?<![\w-])(?:[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,7}|\d{4} ?\d{4}|[a-z0-9]{8,16}|\d{6,10})(?![\w-])"
)
_SEED = re.compile(
    r"(?:seed|recovery|mnemonic|secret|backup|wallet)[ -]?(?:phrase|words|seed)?|mnemonic|bip-?39|seed-?phrase|24 words|12 words"
    r"|wiederherstellungs(?:phrase|wörter)|frase (?:semilla|de recuperaci[oó]n)|phrase de récupération|助记词|сид-?фраза|мнемони\w+",
)
_WORDS = re.compile(
    r"(?:(?:\d{1,2}[.):]\s?)?[a-z]{3,8}[\s,]{1,3}){11,24}(?:\d{1,2}[.):]\s?)?[a-z]{3,8}"
)
_OTP = re.compile(
    r"otpauth://[^\s\"'<>]{0,200}?secret=(?P<address>[a-z2-7]{12,128})"
    r"|(?:totp|otp|2fa|mfa|authenticator|two-factor|zwei-faktor|one-time)[^\n]{0,60}?[:=\s]\s?[\"'`]?"
    r"(?P<seed>[a-z2-7]{16,64}|(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4})(?![a-z0-9])",
)


def find_told(text: str) -> Iterator[Finding]:
    """Every secret that a sentence gives away, in any of the languages we know."""
    low = lowered(text)
    yield from _one_time_seeds(text, low)
    yield from _seed_phrases(low)
    yield from _recovery_codes(low)
    yield from _told(text, low)
    yield from _pins(low)


def _told(text: str, low: str) -> Iterator[Finding]:
    seen = 0
    for name in _NAME.finditer(low):
        if name.start() < seen or not _begins_word(text, name.start()):
            continue
        if match := _TOLD.match(text, name.end()):
            seen = match.end()
            yield from _live(text, match, name[0])
    for pattern in (_USE, _AFTER):
        for match in pattern.finditer(low):
            yield from _live(text, match, "password")


def _begins_word(text: str, at: int) -> bool:
    """Scripts without spaces have no other beginning than the word itself."""
    return (
        at == 0 or ord(text[at]) >= 0x530 or not (text[at - 1].isalnum() or text[at - 1] in "_-.")
    )


def _live(text: str, match: re.Match[str], name: str) -> Iterator[Finding]:
    group = next(key for key, value in match.groupdict().items() if value and key in _VALUES)
    start, end = match.span(group)
    value = text[start:end].rstrip(".,;:!?)）。")
    if _is_told(name, value, quoted=group != "bare"):
        what = "a password or key told in plain words"
        yield secret("told_password", what, (start, start + len(value)))


def _is_told(name: str, value: str, *, quoted: bool) -> bool:
    if is_stand_in(value):
        return False
    if re.search(
        r"token|key|secret|schl|cl[eé]|chiave|llave|chave|ключ|密钥|キー|키", name, re.IGNORECASE
    ):
        return is_random(value) and kinds_of_character(value) >= 2 and any(map(str.isdigit, value))
    if quoted and " " in value:
        return is_password(value) and value.count(" ") <= 7 and len(value) <= 60
    return is_password(value) and (
        quoted or kinds_of_character(value) >= 3 or _has_inner_digit(value)
    )


def _has_inner_digit(value: str) -> bool:
    return (
        re.search(r"[A-Za-zÀ-ɏ\u0400-\u04ff]\W?\d|\d\W?[A-Za-zÀ-ɏ\u0400-\u04ff]", value) is not None
    )


def _pins(low: str) -> Iterator[Finding]:
    for match in _PIN.finditer(low):
        if not is_masked(match["bare"] + "-+!ab"):
            yield secret("pin_code", "the digits of a lock or card", match.span("bare"))


def _recovery_codes(low: str) -> Iterator[Finding]:
    searched = 0
    for match in _CODES.finditer(low):
        if match.start() < searched:
            continue
        searched = match.end() + 400
        codes = [
            code
            for code in _CODE.finditer(low, match.end(), match.end() + 400)
            if any(map(str.isdigit, code[0])) and not is_masked(code[0])
        ]
        if len(codes) >= 2:
            span = (codes[0].start(), codes[-1].end())
            yield secret("recovery_codes", "recovery codes of an account", span)


def _seed_phrases(low: str) -> Iterator[Finding]:
    searched = 0
    for match in _SEED.finditer(low):
        if match.start() < searched:
            continue
        searched = match.end() + 250
        words = _WORDS.search(low, match.end(), match.end() + 500)
        if words and not re.search(r"\b(?:the|and|is|of|to|that)\b", words[0]):
            yield secret("seed_phrase", "the words of a wallet's seed phrase", words.span())


def _one_time_seeds(text: str, low: str) -> Iterator[Finding]:
    for match in _OTP.finditer(low):
        group = "address" if match["address"] else "seed"
        value = text[slice(*match.span(group))].replace(" ", "")
        is_mixed = len(set(value)) >= 6 and (kinds_of_character(value) >= 2 or len(value) >= 26)
        if value.upper() == value and is_mixed and not is_stand_in(value):
            yield secret("otp_seed", "the seed of one-time codes", match.span(group))
