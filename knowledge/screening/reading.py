"""Reads a sentence for its concepts, and for what several of them mean together."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections import Counter
from collections.abc import Iterable

from knowledge.screening.concepts import Concept, Hit, folded, lexicon
from knowledge.screening.quoting import unquoted

Ideas = frozenset[Concept]

ADDRESS = re.compile(
    r"(?:https?|ftp|wss?)://[^\s\"'`<>)\]}]{3,400}|(?<!\w)[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
    r"|(?<![\w.])\.?(?:[a-z0-9-]{1,63}\.){1,6}(?:com|org|net|io|dev|app|example|info|biz|xyz|ru|cn|test|site|online)\b(?:/\S{0,200})?",
    re.IGNORECASE,
)
_SLOT = re.compile(
    r"""(?:https?:)?//[^\s"'`<>)]{3,200}?(?:[?&/=#.]|%3D)
    (?:\{\{?\s?(?!(?:\w+_)?id\b|name\b|slug\b)[\w .|-]{2,60}\s?\}?\}|\[[\w' -]{3,60}\]|<[\w' -]{3,60}>|%7B\w|\$\{?\w{3,}|[A-Z]{4,}(?:_[A-Z]+)*(?![a-z0-9])|…|\.\.\.)
    |https?://[^\s"'`]{3,200}[=/]["']\s?[+.]\s?\w""",
    re.VERBOSE,
)
_BEACON = re.compile(r"(?:!\[[^\]\n]{0,80}\]\(|<img\b[^<>]{0,80}?src\s?=\s?[\"']?)(?:https?:)?//")
_PRIVATE_SLOT = re.compile(
    r"[\[{<][^\]}>]{0,30}(?:chat|conversation|history|prompt|question|message|summary|context|email|token|secret|notes)",
    re.IGNORECASE,
)
_PIPED = re.compile(
    r"\b(?:curl|wget|iwr|irm|fetch)\b[^|\n]{0,200}\|\s?(?:sudo\s)?(?:ba|z|da)?(?:sh|iex|python3?|node)\b"
)
_TOOL_NAME = re.compile(r"(?<![\w/.$])[a-z]{2,20}(?:_[a-z]{2,20}){1,5}(?![\w=:.\]])")
_FROM_QUOTES = frozenset({Concept.CREDENTIAL, Concept.TALK, Concept.INNARDS, Concept.TOOL})
_CALLED = re.compile(r"[^.!?;\n]{0,30}?[:,：，、]|\s[-–—]")
_BEFORE_CALL = re.compile(
    r"(?:^|[\n.:>(\[–—。!?*#/]\s*|(?:^|[\n.:>(\[–—。!?*#/]\s*|\b(?:note|attention|notice|message|reminder|nota|hinweis|bericht|attenzione|atención|atenção)\s)(?:to|for|dear|hey|hello|hi|note|attention|notice|message|reminder|important|an|à|aux|für|a|para|per|pour|al|ai|do|для|aan|till|til)\s+(?:the\s+|all\s+|any\s+|every\s+|die\s+|alle\s+|les\s+|los\s+|las\s+|gli\s+|i\s+)?)$"
)
_IS_ONE = re.compile(r"\b(?:if|when)\s+(?:you\s+are|you're)\s+(?:an?|the)\s+(?:\w+\s+){0,2}$")


def ideas_of(sentence: str, *, hidden: bool = False) -> Ideas:
    """What the sentence itself speaks of; of what it quotes, only the objects count.

    In hidden words even a speaker's name, as in "assistant: say", calls upon a model.
    """
    if _is_code(sentence):
        return frozenset()
    own = unquoted(sentence)
    plain = folded(ADDRESS.sub(" ", own))
    hits = _first_few(lexicon().hits(plain))
    ideas = {hit.concept for hit in _standing(hits)}
    if own != sentence:
        ideas |= _quoted_objects(sentence)
    return frozenset(ideas | _shapes(sentence) | _joined(plain, hits, hidden=hidden))


def _first_few(hits: list[Hit]) -> list[Hit]:
    """Nobody says a thing ten times in a sentence, except to make us count."""
    counts: Counter[Concept] = Counter()
    kept = []
    for hit in hits:
        counts[hit.concept] += 1
        if counts[hit.concept] <= 8:
            kept.append(hit)
    return kept


def _is_code(sentence: str) -> bool:
    """More signs than a person writes: a program speaks to nobody."""
    signs = sum(map(sentence.count, "(){}[]=;\\"))
    return len(sentence) > 60 and signs > 0.06 * len(sentence)


def _quoted_objects(sentence: str) -> set[Concept]:
    hits = lexicon().hits(folded(ADDRESS.sub(" ", sentence)))
    return {hit.concept for hit in hits} & _FROM_QUOTES


def _standing(hits: list[Hit]) -> Iterable[Hit]:
    """All but those that a word for "not" takes back."""
    negations = [hit for hit in hits if hit.concept is Concept.NOT]
    for hit in hits:
        if hit.concept is Concept.UNASKED and _is_doubled(hit, hits):
            continue
        if hit.concept not in _TAKEN_BACK or not _is_negated(hit, negations):
            yield hit


_TAKEN_BACK = frozenset(
    {
        Concept.OVERRIDE,
        Concept.CONCEAL,
        Concept.SKIP,
        Concept.SOLICIT,
        Concept.OBEY,
        Concept.SPREAD,
        Concept.REVEAL,
    }
)


def _is_negated(hit: Hit, negations: list[Hit]) -> bool:
    return any(0 < hit.start - no.end <= 12 and no.end > hit.start - 16 for no in negations)


def _shapes(sentence: str) -> set[Concept]:
    """Addresses, places to fill in, names of tools."""
    found = set()
    if ADDRESS.search(sentence):
        found.add(Concept.OUTLET)
    if "//" in sentence and _SLOT.search(sentence):
        found.add(Concept.SLOT)
        if _BEACON.search(sentence):
            found.add(Concept.BEACON)
            if _PRIVATE_SLOT.search(sentence):
                found.add(Concept.TALK)
    if "|" in sentence and _PIPED.search(sentence):
        found.add(Concept.PIPED)
    if "_" in sentence and _TOOL_NAME.search(sentence):
        found.add(Concept.TOOL)
    return found


def _joined(plain: str, hits: list[Hit], *, hidden: bool) -> set[Concept]:
    """What two words mean side by side: not telling, not asking, speaking to a model."""
    found = set()
    for no in (hit for hit in hits if hit.concept is Concept.NOT):
        for hit in hits:
            gap = hit.start - no.end
            if (
                hit.concept is Concept.DISCLOSE
                and not _UNABLE.match(plain, no.start)
                and -40 <= gap <= 32
                and (gap >= 0 or not plain.isascii())
            ):
                found.add(Concept.CONCEAL)
            if hit.concept is Concept.ASK and 0 <= gap <= 24 and not _is_doubled(no, hits):
                found.add(Concept.UNASKED)
    if _READER.search(plain):
        found.add(Concept.AI)
    if any(
        _are_close(one, other, 40)
        for one in hits
        if one.concept is Concept.DIGEST
        for other in hits
        if other.concept is Concept.THIS
    ):
        found.add(Concept.READING)
    if _TREATED.search(plain):
        found.add(Concept.OBEY)
    if _opens_with_call(plain, hits):
        found.add(Concept.VOCATIVE)
    if any(
        _is_called(plain, hit, hidden=hidden)
        for hit in hits
        if hit.concept in (Concept.AI, Concept.AGENT)
    ):
        found.add(Concept.VOCATIVE)
    return found


_UNABLE = re.compile(r"can(?:no|'|’| no)t\b")


def _is_doubled(no: Hit, hits: list[Hit]) -> bool:
    """ "Do not go on without asking" wants the question asked; some tongues say "not" last."""
    return any(
        hit.concept is Concept.NOT
        and (
            3 < no.start - hit.end < 80
            or (0 < hit.start - no.end < 24 and hit.end - hit.start < 6 and no.end - no.start < 8)
        )
        for hit in hits
    )


_READER = re.compile(
    r"\b(?:software|tools?|systems?|programs?|programmes|machines?|bots?|robots?|engines?|services|scripts?|applications|visitors?|clients?|processes|pipelines?|whoever|whatever|whichever \w+|anything|agents?|assistants?|models?|reviewers)"
    r"\s+(?:(?:that|which|who|is|are|used to)\s+){0,2}(?:automatically\s+)?(?:read|summari[sz]|prepar|answer|process|translat|pars|quot|index|ingest|retriev|consult|replay|load|repeat|operat|generat|extract|crawl)\w*\b"
    r"(?=.{0,60}\b(?:this|these|here|it|them|my mail|the library|answers|replies|from)\b)"
)


def _are_close(one: Hit, other: Hit, gap: int) -> bool:
    return other.start - one.end <= gap and one.start - other.end <= gap


_TREATED = re.compile(
    r"\b(?:treat|treats|treated|treating|regard|regards|consider|considers|count|counts|view|take|takes|accept|accepts)\b.{1,70}?\bas (?:an? |the |if |though |being )?(?:\w+ ){0,2}"
    r"(?:commands?|instructions?|orders?|confirmed|approved|trusted|coming|came|authoritative|valid|binding|authorised|authorized|true|system|operator|tests?)\b"
)
_SPEAKERS = re.compile(
    r"(?:assistant|agent|model|bot|robot|ai|claude|gemini|copilot|chatgpt|gpt|asistente|assistente|assistent)\s*[:：]"
)


_OPENING = re.compile(r"[^:：\n]{4,80}[:：]")
_TO = re.compile(
    r"\W*(?:(?:note|message|notice|hint|word|reminder|attention|nota|hinweis|nachtrag|bericht)\s+)?"
    r"(?:to|for|dear|hello|hi|an|fur|pour|a|aux|para|al|per|ai|aan|till|til|dla|do|для|pro|icin)\b|[致给給]"
)


def _opens_with_call(plain: str, hits: list[Hit]) -> bool:
    """Whether the words before the first colon turn to an AI, and are more than a speaker's name."""
    opening = _OPENING.match(plain)
    if opening is None or not _TO.match(plain) or _SPEAKERS.match(plain):
        return False
    named = {hit.concept for hit in hits if hit.end <= opening.end()}
    return not named.isdisjoint({Concept.AI, Concept.AGENT})


def _is_called(plain: str, hit: Hit, *, hidden: bool) -> bool:
    """Whether the words address an AI; "Agent: good morning" is only a speaker's name."""
    before = plain[max(0, hit.start - 40) : hit.start]
    if _IS_ONE.search(before):
        return True
    reach = 40 if hit.concept is Concept.AI or plain[hit.start : hit.end].endswith("s") else 3
    if not _BEFORE_CALL.search(before) or not _CALLED.match(plain, hit.end, hit.end + reach):
        return False
    return hidden or not _SPEAKERS.match(plain, hit.start)
