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
      ^[<\[({].*[>\])}]$ | \$\{ | \$\( | \{\{ | ^\$[A-Za-z_] | ^%[A-Za-z_]+%$ | %\(\w+\)s | ^%s$
    | ^\{\w*\} | <[A-Za-z_ -]+> | \[[A-Za-z_ -]+\] | ^@[\w/.-]+$ | ^&\w+$ | ^\*\w+$ | ^!\w+
    | ^(?:env|file|vault|secret|secrets|op|ssm|arn|kms|ref|keyvault|keychain|pass|gcp|aws|doppler)
      (?:\+\w+)?[:/] | ^(?:enc\[|\$ansible_vault|\$2[aby]\$|\$argon2|\$[156y]\$|pbkdf2|scrypt[:$]|bcrypt
      |\{ssha|sha(?:1|224|256|384|512)[:$-]|md5[:$]|sealed:|age:)
    | ^(?:var|local|data|module|each|self|this|config|cfg|settings|props|process|import|request|req
      |args|options|opts|ctx|context|env|os|secrets|params|input|inputs|conf|app|event|user|res|response
      |data|store|state|session|credentials|creds|auth|account|form|body)\.[A-Za-z_]
    | ^[A-Za-z_][\w.]*\( | ^[\w.]+\[["']?\w+["']?\]? | ^(?:await|new|lambda|function|return|get|lookup)\b
    | (?-i:^(?:\.{0,2}|~)/[a-z0-9._-]+(?:/[A-Za-z0-9._-]+)*$) | (?-i:^(?:[a-z_-]+/)+[a-z_.-]+$)
    | ^https?://[^@\s]+$ | \.\.\.|…
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MANUAL = re.compile(
    r"example|your[\W_]|placeholder|redacted|x{6,}|\*{4,}|\.{3,}|0{8,}|1234567890ab|abcdefghij|<|\{",
    re.IGNORECASE,
)
_CODE = re.compile(r"\w\(|\s=\s|\s--?\w|=>|\$\w|^\w+=\S*\s|\s\|\s|[\w\]]\[['\"]")
_CONSTANT = re.compile(r"[A-Z]{2,}(?:_(?:[A-Z]+\d{0,4}|\d{1,4}))+")
_PATH = re.compile(
    r"[\w.@-]{0,80}(?:/[\w.@=-]{1,80}){1,12}\.[a-z]{2,5}\d?|(?=[^_.-]{0,80}[._-])[a-z_.-]{1,40}(?:/[\w.@=-]{1,80}){2,12}"
    r"|[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*){2,}|[a-z]+(?::[\w.-]+){2,}"
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
    r"passphrase|password|passwd|passwort|p[a@4]ssw[o0]rd|pass|secrets?|s3cr3t|tokens?|keys?|api|the|an?|my|our|some|same"
    r"|super|top|very|secure|strong|new|old|test|demo|fake|admin|root|guest|user|postgres|mysql|db|app|database|prod"
    r"|dev|local|host|name|value|here|here|insert|paste|enter|put|todo|tbd|fixme|sample|default|none|null|undefined"
    r"|not|set|real|masked|hidden|removed|omitted|foo|bar|baz|lorem|ipsum|letmein|qwerty|vault|keychain|keyring|manager"
    r"|credentials?|generated?|random|unknown|required|optional|string|str|from|env|text|plain|see|ask|in|is|to|be|of|for|with|by|on"
    r"|login|service|server|client|account|change|abc|xyz|redacted|basic|bearer|auth|long|hash|hashed|encrypted|xxx+",
    re.IGNORECASE,
)


_NO_VALUE = re.compile(
    r".*\]\(.*|\w{2,12}://.*|[\w.-]{1,60}:\d{2,5}(?:/.*)?|(?:python3? |\./|sudo )?[\w/-]{1,40}\.(?:py|sh|js|rb)\s.*"
)
"""A link in Markdown, an address (whose password has a rule of its own), a host, a command."""


def is_stand_in(value: str) -> bool:
    """A reference, a mask, a word for "fill this in", or a sample that everybody knows."""
    bare = value.strip().strip("\"'`")
    if _NO_VALUE.fullmatch(bare):
        return True
    if not bare or bare.lower() in SAMPLES or _REFERENCE.search(bare):
        return True
    return is_masked(bare) or _STAND_IN.search(bare) is not None or _is_filler(bare)


def _is_filler(value: str) -> bool:
    """Nothing but words such as `my`, `test` and `secret`, and a digit or two."""
    rest = _FILLER.sub("", value)
    return sum(map(str.isalpha, rest)) <= 2 and sum(map(str.isdigit, rest)) <= 4 and rest != value


def is_code(value: str) -> bool:
    """A command, a call or an assignment, which may hold a secret but is none."""
    return _CODE.search(value) is not None


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
    words = re.split(r"[\s_.-]+", bare)
    if all(word.isalpha() for word in words):
        return len(words) >= 3 and not _PROSE.search(bare)
    return kinds_of_character(bare) >= 2 and not _NOT_A_PASSWORD.fullmatch(bare)


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
