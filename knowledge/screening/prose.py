"""Secrets that somebody tells in plain words: what a password is, spells or comes to in parts."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.findings import Finding
from knowledge.screening.locks import find_pins
from knowledge.screening.password_words import (
    ACCOUNT,
    COPULA,
    COPULA_UNSPACED,
    KEY_NAME,
    PASSWORD_NAME,
    TOLD_NAME,
)
from knowledge.screening.placeholders import (
    is_code,
    is_mixed,
    is_password,
    is_path,
    is_random,
    is_setting,
    is_stand_in,
    kinds_of_character,
    lowered,
)
from knowledge.screening.recovery import find_recovery
from knowledge.screening.samples import unpublished
from knowledge.screening.secrets import secret

_TOLD = re.compile(
    rf"""(?P<between>(?:[ \t]+(?!is\b|=|\S*-----)[^\s:=.,;!?"'`“„«]{{1,24}}){{0,7}}?)
    [ \t]{{0,3}}
    (?P<joint>:|=|：|—|–|->|→|(?:,\ (?:which|that|and\ it|it|die|das|qui|que|che)\ )?\b(?:{COPULA}|is\ now|set\ to|changed\ to|reset\ to)\b:?|{COPULA_UNSPACED}|\n)
    [ \t]{{0,3}}(?:still|now|currently|jetzt|nun|maintenant|ahora|agora|ora|nu|teraz|теперь|сейчас|현재|today|simply|just)?
    [ \t]{{0,3}}\n?[ \t]{{0,3}}
    (?:"(?P<q1>[^"\n]{{4,120}})"|'(?P<q2>[^'\n]{{4,120}})'|`(?P<q3>[^`\n]{{4,120}})`|“(?P<q4>[^”\n]{{4,120}})”|„(?P<q5>[^“”\n]{{4,120}})[“”]
      |«\s?(?P<q6>[^»\n]{{4,120}}?)\s?»|「(?P<q7>[^」\n]{{4,80}})」|‘(?P<q8>[^’\n]{{4,80}})’|\*\*(?P<q9>[^*\n]{{4,80}})\*\*
      |(?P<bare>[^\s"'`“„«「，。、<>]{{4,160}}))""",
    re.VERBOSE | re.IGNORECASE,
)
_VALUES = frozenset({"bare", *(f"q{number}" for number in range(1, 10))})
_USE = re.compile(
    r"(?:log(?:ged)? ?[io]n|sign(?:ed)? ?in|connect|unlock|decrypt|open(?:s)?|anmeld\w{1,4}|einlogg\w{1,4}|inlogg\w{1,4}|logga in|connecte[rz]?|entra[rd]?|acced\w{1,3})"
    r"\b[^\n.]{0,80}?\b(?:with|using|mit|avec|con)\s[^\n.]{0,60}?(?:\band\b|/|\bund\b|\bet\b|\by\b)\s"
    r"(?:the\s)?(?:password\s|passwort\s)?[\"'`“„«]?(?P<bare>[^\s\"'`”“»]{8,80})",
)
_IN_WITH = re.compile(
    r"(?:gets? in|log(?:s|ged)? ?[io]n|sign(?:s|ed)? ?in|opens?|(?:unlocks?|unprotect\w{0,3}|decrypts?|entsperr\w{1,3}|entschlüssel\w{1,3})(?: (?:the|it|den|die|das) ?\w{0,16})?|kommt (?:man|ihr|du) rein|meldet? (?:man )?sich an|s'ouvre|se abre|si apre)\s(?:with|using|by|mit|avec|con|com|→)\s[\"'`“„«]?(?P<bare>[^\s\"'`”“»]{8,60})",
)
_A_YEARS_NAME = re.compile(r"[A-Za-z]+[-_.](?:19|20)\d\d")
_DICE_WORDS = re.compile(
    r"(?:pass-?\s?phrase|kennphrase|passphrase|mantra|phrase secrète|frase (?:secreta|segreta|clave))[^\n:=\"']{0,40}(?:[:=]|\bis\b|\bist\b|\best\b|\bes\b)\s{0,3}(?P<bare>(?:[a-z]{3,10}[ -]){3,9}[a-z]{3,10})(?=[.\n]|\Z)"
)
"""Words of a list after the word for a passphrase; a sentence about one has other words."""
_OF_A_SENTENCE = re.compile(
    r"\b(?:must|should|please|choose|enter|use|type|keep|store|ask|write|never|always|read|again|twice|required|optional|minimum|words?|long|random|memorable|same|different|new|old|each|every|when|what|that|this|then|has|have|not|and|the|can|may|will|you|your|for|with|from|into|only|about|than|more|less|least|most|some|any|all|was|were|been|are|und|oder|der|die|das|ein|eine|nicht|muss|soll|bitte)\b"
)
_AFTER = re.compile(
    r"[\"'`“„«](?P<bare>[^\s\"'`“”„«»]{6,80})[\"'`”“»]\s{1,2}(?:as (?:the|a|its|my|our) |is (?:the|my|our|its) |als )"
    r"(?:\w{1,20} ){0,3}(?:password|passphrase|passwort|kennwort|token|api key|pin)\b",
)


_PUBLIC = re.compile(
    r"public|publi[ck]|öffentlich|publique|p[úu]blic[ao]|pubblic|openbare|offentlig|veřejn|открыт|публичн|公钥|公開|공개|verif|minisign|finger|hash|digest|checksum|sha-?\d|md5|site|host|cache|object|sort|partition|primary|foreign|commit",
    re.IGNORECASE,
)
_SPELT = re.compile(
    r"""
      (?i:\b(?:capital|uppercase|upper-case|lowercase|lower-case|small|big|letter|groß(?:es|er)?|klein(?:es|er)?|majuscule|mayúscula|maiuscola))\ (?-i:[A-Za-z])\b
    | \b(?:the\ |das\ |le\ |la\ )?(?:word|name|wort|mot|palabra|parola)\ ["'“]?\w{3,20}
    | \b(?:digits?|numbers?|ziffern?|zahl|chiffres?|cifras?|numeri?)\ \d | \b\d(?:\ \d){1,7}\b
    | \b(?:underscore|hyphen|dash|exclamation\ (?:mark|point)|question\ mark|hash(?:tag)?\ sign|dollar\ sign|at[ -]sign|asterisk|full\ stop|ampersand|percent\ sign|plus\ sign
      |unterstrich|bindestrich|ausrufezeichen|fragezeichen|tiret|point\ d'exclamation|guion|exclamación|punto\ esclamativo)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SIGN_WORD = re.compile(
    r"capital [a-z]\b|uppercase|upper-case|lowercase|lower-case|letter [a-z]\b|groß(?:es|er)? [a-z]\b|klein(?:es|er)? [a-z]\b|majuscule|mayúscula|maiuscol|underscore|hyphen|dash\b|exclamation|question mark|hash sign|dollar sign|at[ -]sign|asterisk|ampersand"
    r"|unterstrich|bindestrich|ausrufezeichen|tiret|guion|punto esclamativo|tango|kilo\b|zulu|bravo|digits? \d|ziffern? \d"
)
_CAPITAL = re.compile(r"(?:capital|upper|groß|majusc|mayúsc|maiusc)", re.IGNORECASE)
_ABOUT_RULES = re.compile(
    r"must|should|contain|at least|require|allow|include|policy|has to|needs? |need to|muss|mindestens|doit|debe|deve|rules?\b|may (?:not )?",
    re.IGNORECASE,
)
_NATO = re.compile(
    r"(?:\b(?:alfa|alpha|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliett?|kilo|lima|mike|november|oscar|papa|quebec|romeo|sierra|tango|uniform|victor|whiskey|x-?ray|yankee|zulu|zero|one|two|three|four|five|six|seven|eight|niner?|dash|hyphen|underscore|dot|hash|capital|upper ?case|lower ?case)\b[\s,.-]{1,3}){4,}\w+",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"(?:begins?|starts?|ends?|continues?|goes on|finish(?:es)?|followed by|then comes|beginnt|endet|geht weiter|commence|finit|se termine|empieza|termina|inizia|finisce|começa)\b[^\n\"'`“„«.]{0,30}[\"'`“„«](?P<bare>[^\"'`”“»\n]{2,40})[\"'`”“»]"
)
_HALVED = re.compile(
    rf"{PASSWORD_NAME.pattern}|\bwpa2?\b|(?:wi-?fi|wlan|network|netzwerk|secret|api|access)[ -]?(?:key|schlüssel|code)|passkey|\bpw\b|\btoken\b"
)
_HALF = re.compile(
    r"\b(?:first|second|last|other|1st|2nd|erste[rs]?|zweite[rs]?|première|deuxième|seconde|primera|segunda|prima|seconda)\s(?:half|part|bit|piece|chunk|teil|hälfte|moitié|partie|mitad|parte|metà)"
    r"(?:[^\n:=\"'`.]{0,40}[:=]|\s(?:is|ist|est|es|è))?\s?[:=]?\s?[\"'`“„«]?(?P<bare>[^\s\"'`“”„«»]{4,60})"
)


def find_told(text: str) -> Iterator[Finding]:
    """Every secret that a sentence gives away, in any of the languages we know."""
    low = lowered(text)
    yield from unpublished(text, find_recovery(text, low))
    yield from unpublished(text, _told(text, low))
    yield from unpublished(text, find_pins(low))
    yield from _spelt(text, low)
    if (_HALF.search(low) or _BEGINS.search(low)) and (name := _HALVED.search(low)):
        yield from _in_halves(text, low, name.end())


def _told(text: str, low: str) -> Iterator[Finding]:
    seen = 0
    for name in TOLD_NAME.finditer(low):
        if name.start() < seen or not _begins_word(text, name.start()):
            continue
        if match := _TOLD.match(text, name.end()):
            seen = match.end()
            if not _is_public(text, name, match.end("joint")):
                yield from _live(text, match, name[0])
    for pattern in (_USE, _AFTER):
        for match in pattern.finditer(low):
            yield from _live(text, match, "password")
    for match in _IN_WITH.finditer(low):
        value = text[slice(*match.span("bare"))].rstrip(".,;:?)")
        if (
            kinds_of_character(value) == 4
            and is_mixed(value)
            and not _A_YEARS_NAME.fullmatch(value)
        ):
            yield from _live(text, match, "password")
    for match in _DICE_WORDS.finditer(low):
        words = match["bare"]
        if words == text[slice(*match.span("bare"))] and not _OF_A_SENTENCE.search(words):
            yield secret("told_password", "the words of a passphrase", match.span("bare"))


def _begins_word(text: str, at: int) -> bool:
    """Scripts without spaces have no other beginning than the word itself."""
    return (
        at == 0 or ord(text[at]) >= 0x530 or not (text[at - 1].isalnum() or text[at - 1] in "_-.")
    )


def _is_public(text: str, name: re.Match[str], end: int) -> bool:
    """A key that may be known: the words around its name say so."""
    is_key = KEY_NAME.search(name[0]) is not None
    return is_key and _PUBLIC.search(text, max(0, name.start() - 24), end) is not None


def _live(text: str, match: re.Match[str], name: str) -> Iterator[Finding]:
    group = next(key for key, value in match.groupdict().items() if value and key in _VALUES)
    start, end = match.span(group)
    value = text[start:end].rstrip(".,;:!?)）。")
    if _is_told(name, value, quoted=group != "bare"):
        what = "a password or key told in plain words"
        yield secret("told_password", what, (start, start + len(value)))


def _is_told(name: str, value: str, *, quoted: bool) -> bool:
    if is_stand_in(value) or (not quoted and is_setting(value)):
        return False
    if KEY_NAME.search(name):
        return (
            is_random(value)
            and not is_path(value)
            and kinds_of_character(value) >= 2
            and any(map(str.isdigit, value))
        )
    if quoted and " " in value:
        is_short = value.count(" ") <= 7 and len(value) <= 60
        return is_short and is_password(value) and not is_code(value)
    return is_password(value) and (
        quoted or kinds_of_character(value) >= 3 or _has_inner_digit(value)
    )


def _has_inner_digit(value: str) -> bool:
    return (
        re.search(r"[A-Za-zÀ-ɏ\u0400-\u04ff]\W?\d|\d\W?[A-Za-zÀ-ɏ\u0400-\u04ff]", value) is not None
    )


def _spelt(text: str, low: str) -> Iterator[Finding]:
    """A password that is dictated: a capital R, the word heron, an underscore, the digits 5 1 8."""
    searched = 0
    for word in _SIGN_WORD.finditer(low):
        if word.start() < searched:
            continue
        searched = word.end() + 60
        start, end = max(0, word.start() - 240), word.start() + 220
        if _ABOUT_RULES.search(text, start, end):
            continue
        is_password_near = PASSWORD_NAME.search(low, start, end) is not None
        signs = list(_SPELT.finditer(text, start, end))
        has_capital = any(_CAPITAL.match(sign[0]) for sign in signs)
        is_ours = is_password_near or (has_capital and ACCOUNT.search(low, start, end))
        if len(signs) >= 3 and is_ours:
            span = (signs[0].start(), signs[-1].end())
            yield secret("told_password", "a password spelt out sign by sign", span)
            return
        if is_password_near and (match := _NATO.search(text, start, end)):
            yield secret("told_password", "a password spelt out by an alphabet", match.span())
            return


def _in_halves(text: str, low: str, at: int) -> Iterator[Finding]:
    parts = list(_BEGINS.finditer(low, at, at + 400))
    whole = "".join(text[slice(*part.span("bare"))] for part in parts)
    is_rule = _ABOUT_RULES.search(text, max(0, at - 80), parts[-1].end()) if parts else None
    if len(parts) >= 2 and kinds_of_character(whole) >= 3 and len(whole) >= 8 and not is_rule:
        span = (parts[0].start("bare"), parts[-1].end("bare"))
        yield secret("told_password", "a password in parts", span)
    for match in _HALF.finditer(low, at):
        value = text[slice(*match.span("bare"))].rstrip(".,;:!?)")
        is_mixed = kinds_of_character(value) >= 3 or _has_inner_digit(value)
        if is_mixed and not is_stand_in(value):
            yield secret("told_password", "a part of a password", match.span("bare"))
