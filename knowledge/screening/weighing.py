"""Weighs deeds against settings, for orders that are put in words no rule foresaw."""

from collections.abc import Sequence
from typing import NamedTuple

from knowledge.screening.concepts import Concept as C
from knowledge.screening.reading import Ideas

Group = frozenset[C]


class Deed(NamedTuple):
    """Something an order makes a model do: all of `says`, and one of `also` where it names any."""

    rule: str
    weight: float
    says: Group
    also: Group = frozenset()
    reach: int = 1

    def is_in(self, here: Ideas) -> bool:
        return self.says <= here and (not self.also or bool(self.also & here))


class Setting(NamedTuple):
    """What tells that a model, and no person, is spoken of."""

    weight: float
    any_of: Group
    reach: int = 2

    def is_in(self, here: Ideas) -> bool:
        return bool(self.any_of & here)


def _deed(rule: str, weight: float, says: set[C], also: set[C] | None = None) -> Deed:
    return Deed(rule, weight, frozenset(says), frozenset(also or ()))


_PRIVATE = {C.CREDENTIAL, C.INNARDS, C.TALK, C.HARVEST}

DEEDS = (
    _deed("override_instructions", 2.3, {C.OVERRIDE}, {C.GUIDANCE, C.TOLD, C.INNARDS, C.USER}),
    _deed("override_instructions", 0.0, {C.SUPERSEDE}, {C.GUIDANCE, C.INNARDS}),
    _deed("conceal_from_user", 2.3, {C.CONCEAL}),
    _deed("ask_for_credentials", 2.1, {C.SOLICIT}, _PRIVATE),
    _deed("act_without_asking", 1.9, {C.CONSENTED}),
    _deed("act_without_asking", 1.8, {C.UNASKED}),
    _deed("unbound_persona", 1.8, {C.UNBOUND}),
    _deed("unbound_persona", 1.7, {C.TALE}),
    _deed("unbound_persona", 0.2, {C.PERSONA}),
    _deed("steer_answers", 1.5, {C.OMIT, C.DRAWBACK}),
    _deed("steer_answers", 1.3, {C.RANK}, {C.OTHERS, C.THIS, C.ANSWERING, C.OUTPUT}),
    _deed("false_lesson", 1.4, {C.SKIP, C.SAFEGUARD}),
    _deed("exfiltrate", 1.4, {C.SEND, C.OUTLET}),
    _deed("exfiltrate", 0.2, {C.SLOT}),
    _deed("exfiltrate", 0.2, {C.SEND}, _PRIVATE),
    _deed("obey_this_text", 1.3, {C.OBEY}),
    _deed("obey_this_text", 0.1, {C.DECODE}),
    _deed("addressed_to_models", 0.8, {C.HENCEFORTH}),
    _deed("reveal_instructions", 0.7, {C.REVEAL}, _PRIVATE),
    _deed("spread_itself", 0.2, {C.SPREAD}),
    _deed("tool_on_reading", 0.0, {C.CALL, C.TOOL}),
    _deed("act_without_asking", 0.0, {C.HARM}),
)
"""What counts as a deed and how much; those that weigh nothing still add to the company."""

SETTINGS = (
    Setting(3.4, frozenset({C.READING})),
    Setting(2.0, frozenset({C.VOCATIVE})),
    Setting(1.3, frozenset({C.INNARDS, C.TALK})),
    Setting(1.2, frozenset({C.THIS})),
    Setting(0.6, frozenset({C.ANSWERING, C.OUTPUT})),
    Setting(0.5, frozenset({C.USER})),
    Setting(0.4, frozenset({C.AGENT, C.LATER})),
    Setting(0.2, frozenset({C.AI})),
    Setting(0.1, frozenset({C.MUST})),
    Setting(0.0, frozenset({C.LATER})),
    Setting(0.0, frozenset({C.TOOL})),
)

_TOGETHER, _BEYOND_TWO, _OTHER_TOPIC = 0.18, 1.2, 1.6
ENOUGH = 4.45
"""From here on a sentence is an order; fitted so that ordinary prose stays below it."""


def weighed(ideas: Sequence[Ideas], place: int) -> str | None:
    """The gravest deed of a sentence that weighs enough among its neighbours; None else."""
    own = [deed for deed in DEEDS if deed.is_in(ideas[place])]
    if not own or _weight(ideas, place) < ENOUGH:
        return None
    return max(own, key=lambda deed: deed.weight).rule


def _weight(ideas: Sequence[Ideas], place: int) -> float:
    deeds = [(_nearness(ideas, place, deed), deed.weight) for deed in DEEDS]
    settings = [(_nearness(ideas, place, setting), setting.weight) for setting in SETTINGS]
    acts, signs = sum(near for near, _ in deeds), sum(near for near, _ in settings)
    weight = sum(near * each for near, each in (*deeds, *settings)) + acts * signs * _TOGETHER
    weight += max(0.0, acts - 2) * _BEYOND_TWO
    return weight - _OTHER_TOPIC if C.TOPIC in ideas[place] else weight


def _nearness(ideas: Sequence[Ideas], place: int, what: Deed | Setting) -> float:
    """One in the sentence itself, a half beside it."""
    if what.is_in(ideas[place]):
        return 1.0
    beside = ideas[max(0, place - what.reach) : place + what.reach + 1]
    return 0.5 if any(map(what.is_in, beside)) else 0.0
