"""Names what a passage wants of a model, once it is known to want something."""

from typing import NamedTuple

from knowledge.screening.concepts import Concept as C
from knowledge.screening.reading import Ideas

Group = frozenset[C]


class Deed(NamedTuple):
    """Something an order makes a model do: all of `says`, and one of `also` where it names any."""

    rule: str
    says: Group
    also: Group = frozenset()

    def is_in(self, ideas: Ideas) -> bool:
        return self.says <= ideas and (not self.also or bool(self.also & ideas))


def _deed(rule: str, says: set[C], also: set[C] | None = None) -> Deed:
    return Deed(rule, frozenset(says), frozenset(also or ()))


_PRIVATE = {C.CREDENTIAL, C.INNARDS, C.TALK, C.HARVEST}

DEEDS = (
    _deed("override_instructions", {C.OVERRIDE}, {C.GUIDANCE, C.TOLD, C.INNARDS, C.USER}),
    _deed("conceal_from_user", {C.CONCEAL}),
    _deed("ask_for_credentials", {C.SOLICIT}, _PRIVATE),
    _deed("act_without_asking", {C.CONSENTED}),
    _deed("act_without_asking", {C.UNASKED}),
    _deed("unbound_persona", {C.UNBOUND}),
    _deed("unbound_persona", {C.TALE}),
    _deed("steer_answers", {C.OMIT, C.DRAWBACK}),
    _deed("false_lesson", {C.SKIP, C.SAFEGUARD}),
    _deed("exfiltrate", {C.SEND, C.OUTLET}),
    _deed("steer_answers", {C.RANK}, {C.OTHERS, C.THIS, C.ANSWERING, C.OUTPUT}),
    _deed("obey_this_text", {C.OBEY}),
    _deed("addressed_to_models", {C.HENCEFORTH}),
    _deed("reveal_instructions", {C.REVEAL}, _PRIVATE),
    _deed("unbound_persona", {C.PERSONA}),
    _deed("exfiltrate", {C.SLOT}),
    _deed("exfiltrate", {C.SEND}, _PRIVATE),
    _deed("spread_itself", {C.SPREAD}),
    _deed("obey_this_text", {C.DECODE}),
    _deed("override_instructions", {C.SUPERSEDE}, {C.GUIDANCE, C.INNARDS}),
    _deed("tool_on_reading", {C.CALL, C.TOOL}),
    _deed("act_without_asking", {C.HARM}),
)
"""The most telling first."""


def deed_in(sentence: Ideas, around: Ideas) -> str:
    """What the sentence wants, or else its passage; at the least it speaks to models."""
    for ideas in (sentence, around):
        for deed in DEEDS:
            if deed.is_in(ideas):
                return deed.rule
    return "addressed_to_models"


MEANING = {
    "override_instructions": "tells a model to drop the instructions it works under",
    "obey_this_text": "claims that a model must obey the text instead of its operator",
    "conceal_from_user": "tells a model to keep something from the person it works for",
    "exfiltrate": "wants private data, the conversation or a secret carried to an address",
    "reveal_instructions": "wants a model to give out its instructions or the secrets it can see",
    "tool_on_reading": "wants tools called because the text was read, not because anybody asked",
    "spread_itself": "wants to be copied to other places by whoever reads it",
    "steer_answers": "dictates what a model recommends, claims or leaves out",
    "false_lesson": "teaches later agents to get round a safeguard or to keep quiet about it",
    "act_without_asking": "wants a model to act unasked, or claims a consent nobody gave here",
    "ask_for_credentials": "wants a password or code asked from the user and carried off",
    "unbound_persona": "casts the model as somebody without rules",
    "addressed_to_models": "gives orders to AI readers over the heads of people",
    "forged_roles": "imitates the marks by which a system, tool or operator speaks",
    "hidden_text": "holds words that a person cannot see and that address a model",
    "disguised_text": "spells an order to a model in letters made to slip past a filter",
    "encoded_text": "holds an encoded passage that decodes to an order to a model",
}
"""What each rule found, as the end of "The text …"."""
