"""Values that are nobody's secret here: published samples, references to a vault, sealed values."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterable, Iterator

from knowledge.screening.findings import Finding

_BEFORE, _AFTER = 260, 160
"""How many characters around a value may say so, within its paragraph."""

_PUBLISHED = re.compile(
    r"""
      \b(?:rfc[ -]?\d{3,5}|the\ rfc)\b[^\n]{0,60}?\b(?:shows?|prints?|gives?|uses?|lists?|has|samples?|examples?|section|appendix|test)\b
    | \b(?:in|from|of|by|see|taken\ from|out\ of|aus|из|dans)\ (?:the\ )?rfc[ -]?\d{3,5}\b
    | \b(?:test|appendix)[ -]vectors?\b | \bzero\ vector\b | \btestvektor | \bvecteurs?\ de\ test | \bvector(?:es)?\ de\ prueba
    | \bsample\ (?:answer|response|request|reply|token|key|secret|value|header|credential|password|code|seed|phrase|exchange|pair)
    | \bthe\ sample\ (?:in|of|from|shows?)\b | \bsamples?\ (?:of|from)\ the\ (?:docs|documentation|manual|spec|standard|vendor)
    | \b(?:vendor|provider|spec|specification|standard|textbook|tutorial|bip-?\d+|nist|openid\ connect)\b[^\n.;]{0,24}\s
      (?:shows?|prints?|publish(?:es|ed)|gives?|uses?|lists?|documents?)\b
    | \bpublish(?:es|ed)\b[^\n.;]{0,30}\b(?:test|sample|example|demo)\b | \bpublished\ by\ the\ (?:vendor|provider)
    | \b(?:public|published|official|documented|well-known|famous)\ (?:test|sample|example|demo|dummy)\b
    | \b(?:vendor|provider)['’]?s?\ (?:own\ |public\ )?(?:test|sample|sandbox|example)\ (?:key|token|secret|credential|value|card)
    | \b(?:from|in|of)\ the\ (?:vendor['’]?s?|official|public)\ (?:docs|documentation|manual|readme|website|page|guide)\b
    | \b(?:docs|documentation|manual|readme)\b[^\n.;]{0,40}\b(?:sample|example)\b | \b(?:sample|example)\b[^\n.;]{0,24}\b(?:docs|documentation|manual)\b
    | \b(?:famous|fictional|made[ -]up|invented)\ (?:key|token|secret|phrase|mnemonic|credential|password|value)
    | \bnot\ a\ (?:real|live)\ (?:key|token|secret|credential|password|one) | \bbeispiel\ aus\ der\ (?:doku|spezifikation|norm)
    | \bexemple\ de\ la\ (?:documentation|norme) | \bejemplo\ de\ la\ (?:documentación|norma) | \bпример\ из\ (?:документации|rfc|стандарта)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BUT_LIVE = re.compile(
    r"\b(?:the|our|my|its|their|his|her|der|die|das|unser|le|la|el|notre|mon|nuestra?)\ (?:real|actual|live|true|working|own|echte?|richtige|wirkliche|vraie?|réelle?|verdader[ao]|buen[ao])\b",
    re.IGNORECASE,
)
"""Said between a sample and a value, this tells them apart."""
_REFERENCE = re.compile(
    r"(?:arn:|urn:|op://|vault:|ssm:|kms:|akv:|gcp:|projects/|azurekeyvault|keyvault|secretsmanager|ref\+|vals:|bws:|doppler:)",
    re.IGNORECASE,
)
_SEALED = re.compile(
    r"kind[\"']?\s?:\s?[\"']?SealedSecret|encryptedData[\"']?\s?:|\bsops[\"']?\s?:|\bENC\[|!vault|\$ANSIBLE_VAULT"
)
_SEALED_VALUE = re.compile(r"[A-Za-z0-9+/=]{80,}|ENC\[.*")


def unpublished(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings that are neither a published sample nor kept under another lock."""
    for found in findings:
        span = (found.start, found.end)
        if not (
            is_published(text, *span) or _is_referred(text, *span) or _is_sealed(text, found.start)
        ):
            yield found


def _is_referred(text: str, start: int, end: int) -> bool:
    """A part of an address in a vault, such as an ARN."""
    lead = re.split(r"[\s\"'`(]", text[max(0, start - 160) : start])[-1]
    return _REFERENCE.match(lead + text[start:end]) is not None


def _is_sealed(text: str, start: int) -> bool:
    """Ciphertext that only a cluster or a key holder opens."""
    opened = text.rfind("ENC[", max(0, start - _BEFORE), start)
    if opened >= 0 and text.find("]", opened, start) < 0:
        return True
    return bool(_SEALED_VALUE.match(text, start) and _SEALED.search(text))


def is_published(text: str, start: int, end: int) -> bool:
    """Whether the words around a value say that a standard or a vendor prints it for everybody."""
    above = text.rfind("\n\n", max(0, start - _BEFORE), start)
    below = text.find("\n\n", end, end + _AFTER)
    first = above if above >= 0 else max(0, start - _BEFORE)
    last = below if below >= 0 else min(len(text), end + _AFTER)
    for said in _PUBLISHED.finditer(text, first, start):
        if not _BUT_LIVE.search(text, said.end(), start):
            return True
    return _PUBLISHED.search(text, end, last) is not None
