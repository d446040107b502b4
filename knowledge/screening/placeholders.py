"""Whether a value could be a live credential, or only stands in for one."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import base64
import binascii
import math
import re
from collections import Counter
from itertools import pairwise

SAMPLES = frozenset(
    {
        "akiaiosfodnn7example",
        "wjalrxutnfemi/k7mdeng/bpxrficyexamplekey",
        "jbswy3dpehpk3pxp",
        "correct horse battery staple",
        "correct-horse-battery-staple",
        "correcthorsebatterystaple",
        "qwxyzabcd1234",
        "2yotnfzfejr1zcsicmwpaa",
        "tgzv3jokf0xg5qx2tlkwia",
        "mf_9.b5f-4.1jqm",
        "splxlobezqqybys6wxsbia",
        "7fjfp0zbr1ktdrbnfvdmiw",
        "qwxhzgrpbjpvcgvuihnlc2ftzq==",
        "open sesame",
        "sk_" + "test_4ec39hqlyjwdarjtt1zdp7dc",
        "sk_" + "test_bqokikjovbii2hlwgh4olfq2",
        "gh" + "p_16c7e42f292c6912e7710c838347ae178b4a",
        "6leixactaaaaajczvrqyhh71umiegnq_mxjizkhi",
        "6leixactaaaaagg-vfi1tnrwxmznfuojj4wifjwe",
        "1x0000000000000000000000000000000aa",
        "gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
        "krsxg5ctmvrxezlu",
    }
)
"""Values that public documentation made famous; nobody's account opens with them."""

_REFERENCE = re.compile(
    r"""
      \$\{ | \$\( | \{\{ | ^\$[A-Za-z_][\w:.>{}()\[\]'"/-]*$ | (?-i:^\$[A-Z_]{3,}) | ^%[A-Za-z_]+%$ | %\(\w+\)s | ^%s$
    | ^\{[\w.]*\} | <[A-Za-z_ -]+> | ^\D*\[[A-Za-z_ -]{3,}\]\D*$ | (?-i:^@[a-z_][a-z_.-]*$) | ^@[\w.-]*(?:/[\w/.-]*|\.[a-z]{2,5})$
    | (?-i:^[&*][a-z_-]+\d?$) | (?-i:^!(?:[a-z_]+|Ref|Sub|GetAtt|Join|If|Select|FindInMap|ImportValue|ENV)(?:$|[\s:.\[]))
    | ^(?:env|file|vault|secret|secrets|op|ssm|arn|kms|ref|keyvault|keychain|pass|gcp|aws|doppler)
      (?:\+\w+)?[:/] | ^(?:enc\[|\$ansible_vault|\$2[aby]\$|\$argon2|\$[156y]\$|pbkdf2|scrypt[:$]|bcrypt
      |\{ssha|sha(?:1|224|256|384|512)[:$-]|md5[:$]|sealed:|age:)
    | ^(?:var|local|data|module|each|self|this|config|cfg|settings|props|process|import|request|req
      |args|options|opts|ctx|context|env|os|secrets|params|input|inputs|conf|app|event|user|res|response
      |data|store|state|session|credentials|creds|auth|account|form|body)\.[A-Za-z_]
    | ^[A-Za-z_][\w.:]*\([^)]*(?:$|\)(?:$|[\])};.,?(])) | ^[A-Za-z_][\w.]*\[(?:["'][\w.-]*["']?\]?(?:$|[\[.,;)])|[\w.:-]*(?:$|\(|\[|\](?:$|[\[.,;)])))
    | ^(?:await|new|lambda|function|return|get|lookup)\b
    | (?-i:^(?:\.{0,2}|~)/[a-z0-9._-]+(?:/[A-Za-z0-9._-]+)*$) | (?-i:^(?:[a-z_-]+/)+[a-z_.-]+$)
    | ^https?://[^@\s]+$ | \.\.\.|… | \(\?[=!:<] | \[a-z\] | \[a-z0-9
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BRACKETED = re.compile(r"[<\[({](?P<inner>.*)[>\])}]", re.DOTALL)
_MANUAL = re.compile(
    r"example|your[\W_]|placeholder|redacted|x{6,}|\*{4,}|\.{3,}|0{8,}|1234567890ab|abcdefghij|<|\{",
    re.IGNORECASE,
)
_CODE = re.compile(r"\w\(|\s=\s|\s--?\w|=>|\$\w|^\w+=\S*\s|\s\|\s|[\w\]]\[['\"]")
_CONSTANT = re.compile(r"[A-Z]{2,}(?:_(?:[A-Z]+\d{0,4}|\d{1,4}))+")
_PATH = re.compile(
    r"[\w.@-]{0,80}(?:/[\w.@=-]{1,80}){1,12}\.[a-z]{2,5}\d?|(?=[^_.-]{0,80}[._-])[a-z_.-]{1,40}(?:/[\w.@=-]{1,80}){2,12}"
    r"|[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*){2,}|[a-z]+(?::[\w.-]+){2,}"
    r"|[\w-]{1,80}\.(?:zip|gz|tar|jar|iso|bin|exe|mp[34]|wav|jpe?g|png|pdf|csv|json|txt)"
)
_PLAIN_NAME = re.compile(
    r"[a-z]+(?:_[a-z]+)*|[A-Z]+(?:_[A-Z]+)*|[a-z]+(?:[A-Z][a-z]+)*|[A-Z][a-z]+"
)
_MASK = re.compile(r"[x*#•●.·_?0-]{3,}", re.IGNORECASE)
_STAND_IN = re.compile(
    r"change[\W_]?(?:me|this|it)|(?<![a-z])replace|(?<![a-z])your(?![a-z])|placeholder|example|exemple|ejemplo"
    r"|beispiel|dummy|redacted|goes[\W_]?here|fill[\W_]?(?:me|in|this)|123456|abcdef|hunter2|abc123|p[a@4]ssw[o0]rd123"
    r"|secret[\W_]?key[\W_]?ref|getenv|environ|getpass",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"passphrase|password|passwd|passwort|p[a@4]ssw[o0]rd|pass|secrets?|s3cr3t|tokens?|keys?|my|our|some|same"
    r"|super|top|very|secure|strong|new|old|test|demo|fake|admin|root|guest|user|postgres|mysql|database|prod"
    r"|dev|local|host|name|value|here|insert|paste|enter|put|todo|tbd|fixme|sample|default|none|null|undefined"
    r"|real|masked|hidden|removed|omitted|sensitive|deleted|data|foo|bar|baz|lorem|ipsum|letmein|qwerty|vault|keychain|keyring|manager"
    r"|credentials?|generated?|random|unknown|required|optional|string|from|env|text|plain|with"
    r"|login|service|server|client|account|change|abc|xyz|redacted|basic|bearer|auth|long|hash|hashed|encrypted|xxx+",
    re.IGNORECASE,
)
_SMALL_FILLER = re.compile(
    r"(?<![A-Za-z])(?:api|the|an?|db|app|not|set|str|see|ask|in|is|to|be|of|for|by|on)(?![A-Za-z])",
    re.IGNORECASE,
)
"""Words that are also parts of others, and count only where they stand alone."""


_NO_VALUE = re.compile(
    r".*\]\(.*|\w{2,12}://.*|[\w.-]{1,60}:\d{2,5}(?:/.*)?|(?:python3? |\./|sudo )?[\w/-]{1,40}\.(?:py|sh|js|rb)\s.*"
    r"|//[\w-]+(?:\.[\w-]+)+/.*|\w+,Values?=.*|--[a-z].*|(?i:\(?(?:cve-\d|bug\s?\#|closes\b).*)"
)
"""A link in Markdown, an address (whose password has a rule of its own), a host, a command, a filter,
an option, the number of a bug.
"""


def is_stand_in(value: str) -> bool:
    """A reference, a mask, a word for "fill this in", or a sample that everybody knows."""
    bare = value.strip().strip("\"'`")
    if _NO_VALUE.fullmatch(bare):
        return True
    if not bare or bare.lower() in SAMPLES or _REFERENCE.search(bare) or _is_bracketed(bare):
        return True
    return is_masked(bare) or _STAND_IN.search(bare) is not None or _is_filler(bare)


def _is_bracketed(value: str) -> bool:
    """A name in brackets; what is mixed as only a password is may have brackets for signs."""
    match = _BRACKETED.fullmatch(value)
    return match is not None and kinds_of_character(match["inner"]) < 4


def _is_filler(value: str) -> bool:
    """Nothing but words such as `my`, `test` and `secret`, and a digit or two."""
    rest = _SMALL_FILLER.sub(" ", _FILLER.sub(" ", value))
    return sum(map(str.isalpha, rest)) <= 2 and sum(map(str.isdigit, rest)) <= 4 and rest != value


def is_code(value: str) -> bool:
    """A command, a call or an assignment, which may hold a secret but is none."""
    return _CODE.search(value) is not None


def is_setting(value: str) -> bool:
    """The next line of a file whose line before had a name and no value."""
    return re.match(r"[A-Za-z_]\w*=[^=]", value) is not None


def is_path(value: str) -> bool:
    """The name of a file, an object, a message or a cached value."""
    return _PATH.fullmatch(value) is not None


def is_sample(token: str) -> bool:
    """A token in a vendor's shape that was written for a manual, not issued."""
    return token.lower() in SAMPLES or is_masked(token) or _MANUAL.search(token) is not None


def is_masked(value: str) -> bool:
    """Stars, x's or dots where the characters would be."""
    masked = sum(len(run) for run in _MASK.findall(value))
    return masked * 2 >= len(value) or len(set(value)) < 5


def is_random(value: str, *, at_least: int = 16) -> bool:
    """Long and mixed enough to come from a generator, not from a person or a schema."""
    if len(value) < at_least or " " in value or is_masked(value):
        return False
    if re.fullmatch(r"[A-Za-z]+(?:[-_./][A-Za-z]+)+|[A-Za-z]+", value) and not _is_jumble(value):
        return False
    return entropy(value) >= min(3.0, math.log2(len(value)) * 0.75)


def is_password(value: str) -> bool:
    """Whether a person would choose it: at least two kinds of character, or several odd words."""
    bare = value.strip()
    if not 6 <= len(bare) <= 200 or _PLAIN_NAME.fullmatch(bare) or is_stand_in(bare):
        return False
    if _SENTENCE.search(bare) and not any(map(str.isdigit, bare)):
        return False
    words = re.split(r"[\s_.-]+", bare)
    spoken = [word for word in words if not word.isdigit()]
    is_phrase = len(spoken) >= 3 and all(map(str.isalpha, spoken)) and not _PROSE.search(bare)
    if is_phrase or all(map(str.isalpha, words)):
        return is_phrase
    return kinds_of_character(bare) >= 2 and not _NOT_A_PASSWORD.fullmatch(bare)


_SENTENCE = re.compile(r"\s.*[,.!?;:](?:\s|$)|[,.!?;:]\s", re.DOTALL)
"""Several words with the stops of a sentence: a motto, not a passphrase."""
_PROSE = re.compile(
    r"\b(?:the|is|are|a|an|of|to|for|in|on|and|or|must|be|should|with|by|from|your|der|die|das|ist|"
    r"le|la|les|est|el|es|de|du|must|not|per|at|it|this|that|only|see|ask)\b",
    re.IGNORECASE,
)
_NOT_A_PASSWORD = re.compile(
    r"\d+(?:[.,:/-]\d+)*(?:[a-z]{1,4})?|v?\d+(?:\.\d+)+\S*|[A-Za-z_]\w*=\S*|"
    r"[a-z]+[-:.][a-z]+|[A-Za-z]+[.,;:!?]|[A-Za-z]+'[a-z]+|[a-z]+(?:[-_][a-z]+)*-?\d?|"
    r"\S+@[\w.-]+\.\w+|[\w.-]+\.(?:com|org|net|io|dev|py|js|ts|txt|json|ya?ml|env|pem|key|md|html)",
)


def kinds_of_character(value: str) -> int:
    """How many of lower case, upper case, digits and signs it holds."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda sign: not sign.isalnum())
    return sum(any(kind(sign) for sign in value) for kind in kinds)


_A_NAME_OF_OTHERS = re.compile(
    r"""
      (?:https?:|www\.).* | .*@[\w-]+\.\w.* | (?:[~.]{0,2}/|[A-Za-z]:\\).* | [\w-]+(?:/[\w.-]+){2,} | .*\.(?:com|org|net|io|py|js|ts|txt|json|ya?ml|env|pem|md|html|csv|pdf|docx?)(?:[:/?].*)?
    | v?\d+(?:[.,:/_-]\d+)*[A-Za-z%°€$]{0,4} | \d{4}-\d\d-\d\d.* | [a-z]+(?:[-_./][a-z]+)*-?\d? | .*[(){}].* | --?\S*
    """,
    re.VERBOSE,
)


def is_mixed(value: str) -> bool:
    """A password as people mix them, that no name, path, version or standard looks like."""
    if not is_password(value.replace("=", "+")) or _A_NAME_OF_OTHERS.fullmatch(value):
        return False
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return kinds_of_character(value) >= 3 and (has_both or kinds_of_character(value) == 4)


def entropy(value: str) -> float:
    """Bits per character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def _is_jumble(value: str) -> bool:
    """Letters only, yet with capitals strewn in: base64 without a digit."""
    turns = sum(a.islower() and b.isupper() for a, b in pairwise(value))
    return turns * 5 >= len(value) and kinds_of_character(value) >= 2


def is_token(value: str) -> bool:
    """Whether a generator made it, and no placeholder or call stands in its place."""
    if (
        len(value) < 16
        or is_stand_in(value)
        or _CONSTANT.fullmatch(value)
        or re.search(r"^\)|\w\(", value)
    ):
        return False
    if is_random(value) and kinds_of_character(value) >= 2 and any(map(str.isdigit, value)):
        return True
    return len(value) >= 24 and is_random(value)


_SOLID = re.compile(
    r"[0-9a-fA-F]{32,}|(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=\D*\d)[A-Za-z0-9+/]{20,}={0,2}"
)


def is_solid(value: str) -> bool:
    """A token in one piece, without the dashes and dots that join words to a name."""
    return _SOLID.fullmatch(value) is not None and is_token(value)


def decoded(encoded: str) -> str:
    """The text behind base64; empty when there is none."""
    try:
        plain = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return plain if plain.strip().isprintable() or "\n" in plain else ""


def lowered(text: str) -> str:
    """Lower case, character for character, so that places stay the same."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
