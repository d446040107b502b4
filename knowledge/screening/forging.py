"""Where a text pretends that somebody with more say begins to speak."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice

from knowledge.screening.concepts import Concept as C
from knowledge.screening.findings import Span
from knowledge.screening.hidden_orders import Passage, is_grave, names_a_deed
from knowledge.screening.quoting import fenced_spans, indented_spans, quoted_spans
from knowledge.screening.reading import Ideas, ideas_of
from knowledge.screening.sentences import sentences
from knowledge.screening.turns import forged_turns, is_transcript

_TOKEN = re.compile(
    r"<[ ]?[|\uff5c][ ]?(?:im[ _](?:start|end|sep)|system|user|assistant|end|endoftext|(?:begin|end)[ _]of[ _](?:text|sentence|turn)|eo[tm][ _]id|(?:start|end)[ _]header[ _]id|start[ _]of[ _]turn|endofprompt|tool\w{0,20}|observation|channel|message|return|call|constrain|bo[st]|eo[st]|(?:start|end|system|user|chatbot)\w{0,20}_token|python_tag|[\w▁]{2,30}▁[\w▁]{1,20})[ ]?[|\uff5c][ ]?>"
    r"|<(?:start_of_turn|end_of_turn|extra_id_\d{1,2}|reserved_10\d|SPECIAL_\d{1,3})>|\[/?INST\]|<</?SYS>>|\[/?SYSTEM_PROMPT\]|\[/?AVAILABLE_TOOLS\]|\[/?TOOL_(?:RESULTS|CALLS|CONTENT)\]|\[gMASK\]"
    r"|<(?-i:BOS_TOKEN|EOS_TOKEN)>|</s>\s{0,3}(?:<s>|(?:USER|HUMAN|SYSTEM|ASSISTANT|\[INST)\b)",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"<(?P<close>/)?(?P<name>system|system[-_](?:reminder|prompt|message|note|instructions?|override|notice|update)|tool[-_]?results?|function[-_](?:results?|response|output)|tool[-_](?:use|call|calls|response|output)|invoke|function[-_]calls?|operator(?:[-_]\w{1,20})?|developer(?:[-_]\w{1,20})?|admin(?:[-_]\w{1,20})?|instructions?|priority[-_]\w{1,20}|assistant(?:[-_]\w{1,20})?|user(?:[-_]\w{1,20})?|human|document|documents|context|retrieved[-_]\w{1,20}|search[-_]results?|untrusted[-_]?\w{0,20}|policy|antml:\w{1,30}|rules|override|important|critical|urgent|mandatory|trusted[-_]?\w{0,20}|root|anthropic|openai|ai|llm|model|agent|agents"
    r"|think(?:ing)?|reasoning|scratchpad|reflection|memory[-_]\w{1,20}|attached[-_]files?|attachments?|environment[-_]details|conversation(?:[-_]\w{1,20})?|session[-_](?:summary|update|notes?|state|override|memory|context|policy)|observations?|snippets?|passages?|results?|file[-_]contents?|page|webpage|email|query|task|new[-_]\w{1,20}|end[-_]of[-_]\w{1,20}|harness|runtime|supervisor|guard(?:rails?)?|permissions?[-_]?\w{0,20}|security[-_]\w{1,20}|hidden[-_]?\w{0,20}|command|commands|s|data|input)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_ROLES = "system|operator|developer|administrators?|admin|root|anthropic|openai|security team|kernel|harness|orchestrator|runtime|supervisor|policy engine|sandbox|controller|moderator|gateway|operatore|operador|op[eé]rateur|betreiber|systeem|sistema|syst[eè]me|administrador|administrateur|amministratore|система|оператор|администратор|sistem|systemet|系统|系統|システム|管理员|管理者|시스템|관리자"
_NOTICES = "message|prompt|notice|override|update|instructions?|note|directive|alert|command|announcement|policy|says|reminder|event"
_HEADING = re.compile(
    rf"^(?:[ \t]{{0,4}}[>*_#=\[(<~-]{{1,12}}[ \t]{{0,3}}(?:(?:end of|begin|new|start)\s)?(?:author|platform|tool result|tool output|{_ROLES})"
    rf"|[ \t]{{0,4}}(?-i:SYSTEM|OPERATOR|ADMIN|ADMINISTRATOR|DEVELOPER|ROOT)|[ \t]{{0,4}}(?:{_ROLES})[ _-](?:{_NOTICES}))"
    rf"(?:[ _-](?:{_NOTICES}))?[ \t]*(?:\([^)\n]{{0,40}}\))?[*_\])>~]{{0,4}}[ \t]*[:：\]]",
    re.IGNORECASE | re.MULTILINE,
)
_SPEAKER = re.compile(
    rf"^(?:observation:)?[ \t>*#-]{{0,6}}(?:\[(?:{_ROLES})(?:[ _:-](?:{_NOTICES}))?[^\]\n]{{0,30}}\]|(?:{_ROLES})(?:[ _-](?:{_NOTICES}))?[ \t]?(?:\([^)\n]{{0,40}}\))?\*{{0,2}}[:：])[ \t]*(?P<words>[^\n]{{15,1500}}(?:\n[^\n:]{{3,400}}){{0,3}})",
    re.IGNORECASE | re.MULTILINE,
)
_ARMOUR = re.compile(
    r"(?:---|===|\*\*\*|###|\[\[|<<)\s?(?:BEGIN|START|END OF|END|NEW|TRUSTED)\b[ A-Z]{0,40}?\b(?:SYSTEM|OPERATOR|ADMIN\w*|TRUSTED|UNTRUSTED|INSTRUCTIONS?|OVERRIDE|PRIORITY|DIRECTIVES?|DOCUMENT|CONTEXT|CONTENT|PROMPT|DEVELOPER|AGENT|ASSISTANT|USER|RETRIEVED|DATA|SKILL|TOOL|POLICY)\b[ A-Z]{0,40}?",
)
_THE_END = re.compile(
    r"^[^\w\n]{0,20}(?:8<[^\w\n]{0,20})?(?:(?:this is )?(?:the )?end of|end|here ends|fine d\w{1,4}|fin d\w{1,3}|ende de[rs]|slut på|slutt på|koniec|конец|einde van|fim d\w{1,2})[ -](?:(?:the|this|la|il|le|el|user|untrusted|retrieved|quoted|tool|search|web|uploaded|external|attached)\s){0,3}"
    r"(?:document|passage|text|content|message|messaggio|messaggi|mensaje|mensagem|nachricht|dokuments?|documento|documenti|texte?s?|testo|texto|data|input|file|article|page|web ?page|result|results|output|observation|e-?mail|quote|quotation|attachment|transcript|context|sample|note|entry|skill|memory|сообщения|документа|текста)s?\b[^\n]{0,80}?[\n.:](?P<words>.{15,900})",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_NEXT, _FARTHEST, _AT_MOST = 500, 1500, 200
_COMMANDING = frozenset(
    {C.MUST, C.HENCEFORTH, C.UNASKED, C.CONCEAL, C.OVERRIDE, C.OBEY, C.REVEAL, C.CALL, C.SEND}
    | {C.HARM, C.SKIP, C.SAY}
)
_ADDRESSING = frozenset(
    {C.AI, C.AGENT, C.YOURS, C.USER, C.PERSONA, C.HENCEFORTH, C.UNASKED, C.OBEY, C.INNARDS}
)
_PLAIN_WORDS = """
    document documents context user human policy root model important rules instructions instruction
    user_query user_input user_question assistant ai llm agent agents page email query task input data s
    result results passage passages snippet snippets command commands critical urgent think thinking
    reasoning scratchpad reflection observation observations webpage conversation search_results
    """
_PLAIN = frozenset(_PLAIN_WORDS.split())
"""Names that honest templates and pages use as well: what they hold is only looked at."""

_SPEAKING_WORDS = """
    important critical urgent mandatory think thinking reasoning reflection scratchpad user_query
    user_message human query task command commands
    """
_SPEAKING = frozenset(_SPEAKING_WORDS.split())
"""Names among them under which an attacker likes to speak."""

_INSISTING = frozenset(
    {"important", "critical", "urgent", "mandatory", "user_query", "user_message"}
)
_CALLS = frozenset(
    {"tool_call", "tool_calls", "invoke", "function_calls", "function_call", "tool_use"}
)
_OF_TOKENS = re.compile(
    r"(?i)\b(?:tokens?|tokeni[sz]\w+|templates?|vocab\w*|stop strings?|eos|bos|fine-tun\w+|chatml|prompt formats?)\b"
)
_GOES_ON = re.compile(r"\s?[.,;:)|/]|\s(?-i:[a-z]{1,12})\s(?!\n)|\s?(?:\(|=|\d)|\s?[\"'`”]")
"""How a sentence goes on that only names a token."""

_OF_CALLS = re.compile(
    r"(?i)\b(?:tools?|functions?|templates?|formats?|pars\w+|schemas?|models?|agents?|tokens?|examples?|prompts?|api|thought|observation|json)\b"
)


_TITLE = re.compile(r"[ \t]+[^\s.!?]+(?:[ \t][^\s.!?]+){1,9}\n")
"""The rest of a heading that names a chapter, as in "## Admin: users and groups"."""


def forged_roles(text: str) -> Iterator[Span]:
    """Marks and turns that nobody but a harness writes, with an order behind them."""
    shown = _shown(text)
    if not _OF_TOKENS.search(_TOKEN.sub(" ", text)):
        for match in islice(_TOKEN.finditer(text), _AT_MOST):
            if not _within(match.start(), shown):
                yield match.span()
                return
    yield from _forged_tags(text, shown)
    for pattern in () if is_transcript(text) else (_HEADING, _ARMOUR):
        for match in islice(pattern.finditer(text), _AT_MOST):
            is_title = text[match.start()] == "#" and _TITLE.match(text, match.end())
            if is_title or _within(match.start(), shown):
                continue
            if _commands(text[match.start() : match.end() + _NEXT]):
                yield match.span()


def forged_passages(text: str) -> Iterator[Passage]:
    """What is said behind a mark that alone proves nothing."""
    shown = _shown(text)
    for words, span in chain(_in_tags(text, shown), _behind_tokens(text, shown)):
        yield "forged_roles", words, span
    for pattern in () if is_transcript(text) else (_SPEAKER, _THE_END):
        for match in islice(pattern.finditer(text), _AT_MOST):
            told = names_a_deed if pattern is _THE_END else is_grave
            if not _within(match.start("words"), shown) and _says(match["words"], told):
                yield "forged_roles", match["words"], match.span()
    blocks = _blocks(text)
    for said, span in forged_turns(text):
        if said is None or not _within(span[0], blocks):
            yield "forged_roles", said, span


def _in_tags(text: str, shown: list[Span]) -> Iterator[tuple[str, Span]]:
    for tag in _tags(text, shown):
        name = _name(tag)
        if not tag["close"] and (name not in _PLAIN or name in _SPEAKING):
            words, closing, _ = text[tag.end() : tag.end() + _FARTHEST].partition(
                f"</{tag['name']}"
            )
            told = names_a_deed if name in _INSISTING else is_grave
            if closing and _says(words, told):
                yield words, tag.span()


def _behind_tokens(text: str, shown: list[Span]) -> Iterator[tuple[str, Span]]:
    """Where a text shows or speaks of a template, what stands between its tokens."""
    for start, end in indented_spans(text):
        if token := _TOKEN.search(text, start, end):
            yield _TOKEN.sub(" ", text[token.start() : end]), token.span()
    for token in islice(_TOKEN.finditer(text), _AT_MOST):
        if not _within(token.start(), shown) and not _GOES_ON.match(text, token.end()):
            words = _TOKEN.split(text[token.end() : token.end() + _NEXT])[0]
            if _says(words, is_grave):
                yield words, token.span()


def _says(words: str, told: Callable[[Ideas], bool]) -> bool:
    return any(told(ideas_of(words[start:end])) for start, end in sentences(words))


def _tags(text: str, shown: list[Span]) -> list[re.Match[str]]:
    if "<" not in text:
        return []
    tags = islice(_TAG.finditer(text), _AT_MOST)
    return [tag for tag in tags if not (_within(tag.start(), shown) or _is_blank(text, tag))]


def _is_blank(text: str, tag: re.Match[str]) -> bool:
    """A name to fill in, such as <USER_CONFIG_DIR>: in capitals, and never closed."""
    return "_" in tag["name"] and tag["name"].isupper() and f"</{tag['name']}" not in text


def _name(tag: re.Match[str]) -> str:
    return tag["name"].lower().replace("-", "_")


def _forged_tags(text: str, shown: list[Span]) -> Iterator[Span]:
    tags = _tags(text, shown)
    opened: set[str] = set()
    torn: dict[str, Span] = {}
    for tag in tags:
        name = _name(tag)
        if tag["close"] and name not in opened:
            torn[name] = tag.span()
            if _commands(text[tag.end() : tag.end() + _NEXT]):
                yield tag.span()
        elif not tag["close"]:
            opened.add(name)
            if name not in _PLAIN and _commands(text[tag.end() : tag.end() + _NEXT]):
                yield tag.span()
            if name in torn and f"</{tag['name']}" not in text[tag.end() :]:
                # Closed before it was opened and opened again at the end: made to be put between marks.
                yield torn[name]
            if name in _CALLS and _is_planted(text, tag):
                yield tag.span()


def _is_planted(text: str, tag: re.Match[str]) -> bool:
    """Whether a call stands in a text that speaks of anything but calls."""
    closing = text.find(f"</{tag['name']}", tag.end())
    if closing < 0 or "{" not in text[tag.end() : closing]:
        return False
    around = text[: tag.start()] + text[closing + len(tag[0]) + 2 :]
    return len(around.split()) >= 5 and not _OF_CALLS.search(around)


def _commands(words: str) -> bool:
    """Whether what follows orders a model about, or speaks in the user's name."""
    ideas = ideas_of(words)
    return len(ideas & _COMMANDING) >= 2 and bool(ideas & _ADDRESSING) and C.DISCUSSED not in ideas


def _shown(text: str) -> list[Span]:
    return [*quoted_spans(text), *_blocks(text)]


def _blocks(text: str) -> list[Span]:
    return [*fenced_spans(text), *indented_spans(text)]


def _within(place: int, spans: list[Span]) -> bool:
    return any(start <= place < end for start, end in spans)
