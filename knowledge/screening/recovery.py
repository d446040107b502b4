"""What restores or opens an account for good: recovery keys, seed words, one-time seeds."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import is_masked, is_stand_in, kinds_of_character
from knowledge.screening.secrets import secret

_CODES = re.compile(
    r"(?:recovery|backup|back-up|rescue|scratch|emergency|one-time|2fa|mfa|wiederherstellungs|ersatz|notfall)"
    r"[ -]?(?:access |login |sign-in |backup )?(?:codes?|keys?|schlüssel)|2fa[ -]backups?|codes? de (?:secours|récupération|recuperación|respaldo)|c[oó]digos? de (?:recupera|respaldo|backup|reserva)\w*"
    r"|codici di (?:recupero|backup|riserva)|herstelcodes?|återställningskoder|gjenopprettingskoder|gendannelseskoder|palautuskood\w+|kod[yów]{1,2} (?:zapasow|odzyskiwania)\w*"
    r"|záložní kódy|obnovovací kódy|helyreállítási kód\w*|kurtarma kod\w+|yedek kod\w*|mã khôi phục|kode (?:pemulihan|cadangan)|κωδικοί ανάκτησης"
    r"|резервн\w+ код\w*|код\w* восстановления|恢复代码|恢复码|备用验证码|備用碼|リカバリーコード|バックアップコード|복구 코드|백업 코드|רמזי שחזור|קודי (?:שחזור|גיבוי)|رموز (?:ال)?(?:استرداد|احتياطي)\w*",
)
_CODE = re.compile(
    r"(?<![\w-])(?:[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,7}|\d{4} ?\d{4}|[a-z0-9]{8,16}|\d{6,10})(?![\w-])"
)
_GROUPED = re.compile(
    r"(?<![\w-])(?:\d{6}(?:-\d{6}){7}|A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5})(?![\w-])"
)
_KEY_IN_GROUPS = re.compile(
    r"(?:recovery|rescue|product|licen[cs]e|activation|registration|unlock|filevault|bitlocker|luks|secret|emergency|lizenz|produkt|wiederherstellungs|aktivierungs|ключ|clé|clave|chiave)"
    r"[^\n]{0,80}?(?<![\w-])(?P<bare>[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){3,9})(?![\w-])"
)
_SEED = re.compile(
    r"(?:seed|recovery|mnemonic|secret|backup|wallet|ledger|trezor)[ -]?(?:phrase|words|seed)?|mnemonic|metamask|phantom|electrum|exodus|bip-?39|seed-?phrase|24 words|12 words|brieftasche|portemonnaie"
    r"|wiederherstellungs(?:phrase|wörter)|frase (?:semilla|de recuperaci[oó]n|seme|di recupero)|phrase de récupération|herstelzin|fraza odzyskiwania|助记词|助記詞|ニーモニック|니모닉|сид-?фраз\w|мнемони\w+|кошел\w+",
)
_SEED_WORD = r"(?:(?:no|nr)?\.?\s?\d{1,2}\s?[.):=-]?\s{0,2})?[^\W\d_]{3,9}"
_WORDS = re.compile(rf"(?:{_SEED_WORD}[\s,;|·/-]{{1,4}}){{11,23}}{_SEED_WORD}")
_ORDINAL = re.compile(r"(?<!\w)(?P<at>\d{1,2})\s?[.):=-]?\s{0,2}(?P<word>[^\W\d_]{3,9})(?!\w)")
_GLYPHS = re.compile(r"(?:[\u4e00-\u9fff][ \u3000]){11,23}[\u4e00-\u9fff]")
_FUNCTION_WORD = re.compile(
    r"\b(?:the|and|is|of|to|that|with|for|are|was|und|der|die|das|les|des|une|que|los|las|del|che|con|para)\b"
)
_OTP_NAME = (
    r"(?:totp|\botp|2fa|mfa|authenticator|two-factor|two-step|zwei-faktor|one-time|einmalcode|set-?up key|einrichtungsschlüssel|clé de configuration|clave de configuración"
    r"|двухфактор\w*|аутентификатор\w*|認証アプリ|身份验证器)"
)
_OTP = re.compile(
    r"otpauth://[^\s\"'<>]{0,200}?secret=(?P<address>[a-z2-7]{12,128})"
    rf"|{_OTP_NAME}[^\n]{{0,110}}?[:=\s]\s?[\"'`*]{{0,2}}(?P<seed>[a-z2-7]{{16,64}}|(?:[a-z2-7]{{4}}[ -]){{3,15}}[a-z2-7]{{4}})(?![a-z0-9])",
)
_APP_PASSWORD = re.compile(
    r"(?:\bapp(?:lication)?[- ]?(?:specific )?(?:password|passcode|code)|(?:app|anwendungs)-?(?:passwort|kennwort)|mot de passe d'application|contraseña de (?:la )?aplicaci[oó]n|senha de app"
    r"|password per (?:le )?app|app-wachtwoord|applösenord|пароль приложения|应用专用密码|应用密码|アプリ ?パスワード|앱 비밀번호)"
    r"[^\n:=]{0,50}[:=：]?\s{0,3}[\"'`*]{0,2}(?P<bare>[a-z]{4}(?:[ -][a-z]{4}){3})(?![\w-])"
)
_COMMON = frozenset(
    {
        "this", "that", "with", "from", "have", "must", "your", "when", "then", "they",
        "will", "what", "each", "only", "been", "were", "them", "into", "more", "some",
        "than", "very", "make", "used", "user", "uses", "here", "need", "also", "just",
        "like", "time", "page", "code", "word", "four", "sets", "sent", "send", "file",
        "mail", "text", "work", "step", "keep",
    }
)  # fmt: skip
"""Words of four letters; a generated password in groups holds none of them."""


def find_recovery(text: str, low: str) -> Iterator[Finding]:
    """Every recovery key, seed phrase, one-time seed or app password that the text gives away."""
    yield from _one_time_seeds(text, low)
    yield from _app_passwords(low)
    yield from _seed_phrases(low)
    yield from _recovery_keys(text, low)
    yield from _recovery_codes(low)


def _one_time_seeds(text: str, low: str) -> Iterator[Finding]:
    for match in _OTP.finditer(low):
        group = "address" if match["address"] else "seed"
        spoken = text[slice(*match.span(group))]
        value = re.sub("[ -]", "", spoken)
        is_mixed = len(set(value)) >= 6 and (kinds_of_character(value) >= 2 or len(value) >= 26)
        is_written = value.upper() == value or (spoken != value and _is_generated(spoken))
        if is_mixed and is_written and not is_stand_in(value):
            yield secret("otp_seed", "the seed of one-time codes", match.span(group))


def _is_generated(groups: str) -> bool:
    """Groups of a generator, not words: digits among them, and no common word."""
    parts = re.split("[ -]", groups.lower())
    return any(map(str.isdigit, groups)) and not _COMMON.intersection(parts)


def _app_passwords(low: str) -> Iterator[Finding]:
    for match in _APP_PASSWORD.finditer(low):
        parts = re.split("[ -]", match["bare"])
        if not _COMMON.intersection(parts) and len(set(parts)) == len(parts):
            yield secret("told_password", "an app password in groups", match.span("bare"))


def _seed_phrases(low: str) -> Iterator[Finding]:
    searched = 0
    for match in _SEED.finditer(low):
        if match.start() < searched:
            continue
        searched = match.end() + 250
        if span := _seed_after(low, match.end()):
            yield secret("seed_phrase", "the words of a wallet's seed phrase", span)


def _seed_after(low: str, at: int) -> tuple[int, int] | None:
    if glyphs := _GLYPHS.search(low, at, at + 200):
        return glyphs.span()
    words = _WORDS.search(low, at, at + 600)
    if words and "--" not in words[0] and _is_seed(re.findall(r"[^\W\d_]{3,9}", words[0])):
        return words.span()
    return _numbered(low, at)


def _is_seed(words: list[str]) -> bool:
    """Words of a list, without the small words of a sentence; the zero vector repeats one."""
    return len(set(words)) >= 9 and not _FUNCTION_WORD.search(" ".join(words))


def _numbered(low: str, at: int) -> tuple[int, int] | None:
    """Single words that are counted from one to at least twelve, in rows or in columns."""
    found = list(_ORDINAL.finditer(low, at, at + 700))[:24]
    counted = {int(match["at"]) for match in found} >= set(range(1, 13))
    if counted and _is_seed([match["word"] for match in found]):
        return found[0].start(), found[-1].end()
    return None


def _recovery_keys(text: str, low: str) -> Iterator[Finding]:
    for match in _GROUPED.finditer(text):
        if len(set(match[0])) >= 6:
            yield secret("recovery_codes", "a recovery key in groups", match.span())
    for match in _KEY_IN_GROUPS.finditer(low):
        bare = match["bare"]
        if _is_key(bare) and not is_stand_in(bare):
            yield secret(
                "recovery_codes", "a recovery or product key in groups", match.span("bare")
            )


def _is_key(groups: str) -> bool:
    """No UUID, date or name: groups of the same length with both letters and digits."""
    lengths = {len(group) for group in groups.split("-")}
    is_mixed = any(map(str.isdigit, groups)) and any(map(str.isalpha, groups))
    return len(lengths) == 1 and is_mixed and len(groups) >= 19


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
