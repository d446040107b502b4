"""Whether a value could be a live credential, or only stands in for one."""

import math
import re
from collections import Counter

SAMPLES = frozenset(
    {
        "akiaiosfodnn7example",
        "wjalrxutnfemi/k7mdeng/bpxrficyexamplekey",
        "jbswy3dpehpk3pxp",
        "2yotnfzfejr1zcsicmwpaa",
        "mf_9.b5f-4.1jqm",
        "splxlobezqqybys6wxsbia",
        "qwxhzgrpbjpvcgvuihnlc2ftzq==",
        "sk_" + "test_4ec39hqlyjwdarjtt1zdp7dc",
        "gh" + "p_16c7e42f292c6912e7710c838347ae178b4a",
    }
)
"""Values that public documentation made famous; nobody's account opens with them."""

_REFERENCE = re.compile(
    r"""
      \$\{ | \$\( | \{\{ | ^\$[A-Za-z_][\w:.>{}()\[\]'"/-]*$ | ^%[A-Za-z_]+%$ | %\(\w+\)s | ^%s$
    | ^\{[\w.]*\} | <[A-Za-z_ -]+> | ^\D*\[[A-Za-z_ -]{3,}\]\D*$ | (?-i:^@[a-z_][\w.-]*$)
    | (?-i:^[&*][a-z_-]+\d?$)
    | (?-i:^!(?:[a-z_]+|Ref|Sub|GetAtt|Join|If|ImportValue|ENV)(?:$|[\s:.\[]))
    | ^(?:env|file|vault|secrets?|op|ssm|arn|kms|ref|keyvault|keychain|pass|gcp|aws|doppler)
      (?:\+\w+)?[:/]
    | ^(?:enc\[|\$ansible_vault|\$2[aby]\$|\$argon2|\$[156y]\$|pbkdf2|scrypt[:$]|bcrypt|\{ssha
      |sha(?:1|224|256|384|512)[:$-]|md5[:$]|sealed:|age:)
    | (?-i:^[a-z_]\w*(?:\??\.[A-Za-z_]\w*)+(?:$|[(\[]))
    | ^[a-z_][\w.:]*\( | ^[a-z_][\w.]*\[ | ^(?:await|new|return)\b
    | ^(?:\.{0,2}|~)/ | (?-i:^(?:[a-z_-]+/)+[a-z_.-]+$)
    | ^https?://[^@\s]+$ | \.\.\.|… | \(\?[=!:<] | \[a-z
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A variable, a look-up, a call, a member, a hash, a path or a pattern."""
_MASK = re.compile(r"[x*#•●.·_?0-]{3,}", re.IGNORECASE)
_STAND_IN = re.compile(
    r"change[\W_]?(?:me|this|it)|(?<![a-z])replace|(?<![a-z])your(?![a-z])|placeholder|example"
    r"|exemple|ejemplo"
    r"|beispiel|dummy|redacted|goes[\W_]?here|fill[\W_]?(?:me|in|this)|123456|abcdef|hunter2|abc123"
    r"|getenv|environ"
    r"|p[a@4]ssw[o0]rd123|secret[\W_]?key[\W_]?ref|getpass|sensitive|correct[\W_]?horse"
    r"|^[a-z]\w{0,30}_(?:password|passwd|secret|token|key)$",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"passphrase|password|passwd|passwort|p[a@4]ssw[o0]rd|pass|secrets?|s3cr3t|tokens?|keys?|my|our|some|same"
    r"|super|top|very|secure|strong|new|old|test|demo|fake|admin|root|guest|user|postgres|mysql|database|prod"
    r"|dev|local|host|name|value|here|insert|paste|enter|put|todo|tbd|fixme|sample|default|none|null"
    r"|undefined"
    r"|real|masked|hidden|removed|omitted|deleted|data|foo|bar|baz|letmein|qwerty|vault|keyring"
    r"|manager|access"
    r"|credentials?|generated?|random|unknown|required|optional|string|from|env|text|plain|with|login|service"
    r"|server|client|account|change|abc|xyz|basic|bearer|auth|long|hash|hashed|encrypted|api|app|session|mock"
    r"|expired|invalid|valid|wrong|bad|good|personal|private|public|shared|first|second|third|a|an|the|is|id",
    re.IGNORECASE,
)
_ORDINARY = re.compile(
    r"""
      (?:https?:|www\.).* | [\w.+-]+@[\w-]+\.\w.*
    | (?:[~.]{0,2}/|[A-Za-z]:\\).* | [\w-]+(?:/[\w.-]+){2,}
    | .*\.(?:com|org|net|io|dev|py|js|ts|tsx|go|rs|txt|json|ya?ml|toml|env|pem|key|md|html|csv
      |pdf|docx?|xba|sh)
      (?:[:/?\#].*)?
    | v?\d+(?:[.,:/_-]\d+)*[A-Za-z%°€$]{0,4} | v?\d+(?:\.\d+)+\S* | \d{4}-\d\d-\d\d.*
    | [a-z]+(?:[-_./:][a-z]+)*[-_]?\d{0,2} | [A-Z]+(?:[-_.][A-Z0-9]+)*\d{0,4}
    | [A-Za-z][a-z]+\d{0,2}(?:[A-Z]+[a-z]*\d{0,2})* | [A-Za-z_]+(?:(?:\.|::|->)[A-Za-z_]+\d?)+
    | [A-Za-z_]\w*=[^=]*\W.* | [A-Za-z]+[.,;:!?'][a-z]* | --?[a-z]\S*
    | [A-Za-z_]+[A-Z][a-z]+(?:ID|Id|Type|Name)s?
    """,
    re.VERBOSE,
)
"""An address, a path, a version, a date, a name in any case, an option."""
_NAME_WITH_NUMBERS = re.compile(r"[A-Za-z]+(?:[-_][A-Za-z]+)*(?:[-_.]?\d{1,4}){1,2}")


def is_stand_in(value: str) -> bool:
    """A reference, a mask, a word for "fill this in", or a sample that everybody knows."""
    bare = value.strip().strip("\"'`")
    if not bare or bare.lower() in SAMPLES or _REFERENCE.search(bare):
        return True
    return is_masked(bare) or _STAND_IN.search(bare) is not None or _is_filler(bare)


def is_masked(value: str) -> bool:
    """Stars, x's or dots where the characters would be."""
    masked = sum(len(run) for run in _MASK.findall(value))
    return masked * 2 >= len(value) or len(set(value)) < 5


def _is_filler(value: str) -> bool:
    """Nothing but words such as `my`, `test` and `secret`, and a few digits."""
    words = re.findall(r"[A-Z]?[a-z0-9@]*[a-z][a-z0-9@]*|[A-Z]+", value)
    rest = [word for word in words if not _FILLER.fullmatch(word.rstrip("0123456789"))]
    return bool(words) and not rest and sum(map(str.isdigit, value)) <= 4


def is_password(value: str) -> bool:
    """What a person would choose: no ordinary name, and letters with digits or signs."""
    if not 6 <= len(value) <= 200 or is_stand_in(value) or _ORDINARY.fullmatch(value):
        return False
    if any(sign.isspace() for sign in value):
        return False
    return kinds_of_character(value) >= 2 and sum(map(str.isalnum, value)) >= 5


def is_strong_password(value: str) -> bool:
    """A password even within a sentence: three kinds of character, a digit among them."""
    if not is_password(value) or re.search(r"[(){}<>\[\]|=]", value):
        return False
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= 8 and has_both and kinds_of_character(value) >= 3


def is_token(value: str) -> bool:
    """Whether a generator made it: long, of even distribution, with digits among the letters."""
    if not 16 <= len(value) <= 4_000 or is_stand_in(value) or _ORDINARY.fullmatch(value):
        return False
    if not re.fullmatch(r"[\w+/=.~:%!@$^&*-]+", value) or _NAME_WITH_NUMBERS.fullmatch(value):
        return False
    words = re.findall(r"[a-z]{4,}", value)
    if sum(map(len, words)) > 0.6 * len(value):
        return False
    digits = sum(map(str.isdigit, value))
    return (
        digits >= 2
        and kinds_of_character(value) >= 2
        and _entropy(value) >= min(3.0, math.log2(len(value)) * 0.75)
    )


def kinds_of_character(value: str) -> int:
    """How many of lower case, upper case, digits and signs it holds."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda sign: not sign.isalnum())
    return sum(any(kind(sign) for sign in value) for kind in kinds)


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
