"""Which ideas make an order of words that were hidden, forged or enciphered."""

from knowledge.screening.concepts import Concept as C
from knowledge.screening.findings import Span
from knowledge.screening.reading import Ideas, ideas_of

Passage = tuple[str, str | None, Span]
"""The rule it would break, its words (None when hiding alone is enough), and its place."""

_WEIGHTY = frozenset(
    {C.AI, C.VOCATIVE, C.CONCEAL, C.UNASKED, C.OVERRIDE, C.OBEY, C.HENCEFORTH, C.SPREAD, C.UNBOUND}
)
_HEAVY = (
    _WEIGHTY
    | {C.READING, C.ANSWERING}
    | {C.TOOL, C.RANK, C.REVEAL, C.INNARDS, C.GUIDANCE, C.SAY, C.SEND, C.CREDENTIAL}
)
_TELLING = (
    _HEAVY
    | {C.USER, C.HARM, C.CALL, C.HOLDINGS, C.MUST, C.ASK, C.THIS, C.OMIT, C.SKIP}
    | {C.TALK, C.HARVEST, C.SOLICIT}
)
_EVERYDAY = frozenset({C.USER, C.MUST, C.ASK, C.THIS, C.SEND, C.SAY, C.CALL, C.HOLDINGS})
"""What an invitation or a shopping list speaks of as well."""

_DEEDS = frozenset(
    {C.SEND, C.HARM, C.SKIP, C.SAY, C.CALL, C.OMIT, C.REVEAL, C.OVERRIDE, C.CONCEAL, C.DISCLOSE}
    | {C.HENCEFORTH, C.SOLICIT, C.MUST, C.SPREAD, C.UNASKED, C.PERSONA, C.RANK, C.PIPED, C.HARVEST}
)
_GRAVE = frozenset(
    {C.CONCEAL, C.UNASKED, C.OVERRIDE, C.OBEY, C.HENCEFORTH, C.SPREAD, C.UNBOUND, C.PIPED}
    | {C.CONSENTED, C.HARVEST, C.SOLICIT}
)
_STEERING = frozenset({C.RANK, C.HARM, C.REVEAL, C.OMIT, C.SLOT})
_CARRIED = frozenset({C.OUTLET, C.CREDENTIAL, C.INNARDS, C.TALK, C.HOLDINGS})
_MACHINES = frozenset({C.AI, C.AGENT, C.VOCATIVE})
_BINDING = frozenset({C.OBEY, C.DECODE, C.MUST, C.HENCEFORTH, C.READING, C.VOCATIVE, C.GUIDANCE})
_ONLY_TALK = frozenset({C.DISCUSSED, C.ATTACK})


def is_suspect_when_hidden(here: Ideas) -> bool:
    """Words out of sight need far less to be an order: nobody hides a greeting."""
    return bool(here & _WEIGHTY) and len(here & _HEAVY) >= 2


def is_suspect_in_code(here: Ideas) -> bool:
    """Words in a cipher: whoever enciphers a sentence about users and secrets means it."""
    unsaid = {C.NOT, C.DISCLOSE} <= here
    telling = here & _TELLING
    enough = len(telling) + unsaid >= 3 and (unsaid or not telling <= _EVERYDAY)
    return enough or is_suspect_when_hidden(here)


def names_a_deed(here: Ideas) -> bool:
    """Whether the words have something done, to whomever they speak."""
    return not here.isdisjoint(_DEEDS)


def is_grave(here: Ideas) -> bool:
    """Whether the words conceal, override, or have something done that nobody was asked about."""
    return not here.isdisjoint(_GRAVE) and not here & _ONLY_TALK


def steers(here: Ideas) -> bool:
    """Whether the words want what no remark for colleagues wants: secrets, silence, harm."""
    return is_grave(here) or bool(here & _STEERING) or (C.SEND in here and bool(here & _CARRIED))


def calls_a_machine(here: Ideas) -> bool:
    """Whether the words speak to a model, or of one."""
    return not here.isdisjoint(_MACHINES)


def binds_a_machine(here: Ideas) -> bool:
    """Whether the words hand a model something to read and to follow."""
    return calls_a_machine(here) and bool(here & _BINDING) and not here & _ONLY_TALK


def wants_anything(words: str) -> bool:
    """Whether words could be an order at all; most labels, greetings and puzzles could not."""
    ideas = ideas_of(words, hidden=True)
    return names_a_deed(ideas) or calls_a_machine(ideas)
