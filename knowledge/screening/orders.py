"""Which concepts, said together, make an order to a model that has no business in a document."""

from collections.abc import Collection
from dataclasses import dataclass

from knowledge.screening.concepts import Concept as C
from knowledge.screening.reading import Ideas

Group = frozenset[C]

MODEL = frozenset({C.AI, C.VOCATIVE})
MODEL_OR_AGENT = MODEL | {C.AGENT, C.LATER}
OCCASION = frozenset({C.READING, C.ANSWERING})
STEALTH = frozenset({C.CONCEAL, C.UNASKED})
FORCE = frozenset({C.MUST, C.HENCEFORTH})


@dataclass(frozen=True, slots=True)
class Order:
    """All of `says` in one sentence, one of each `also` there too, one of each `near` around it."""

    rule: str
    says: Group
    also: tuple[Group, ...] = ()
    near: tuple[Group, ...] = ()
    unless: Group = frozenset()

    def is_in(self, here: Ideas, around: Ideas) -> bool:
        return (
            self.says <= here
            and not self.unless & here
            and all(group & here for group in self.also)
            and all(group & around for group in self.near)
        )


def _order(
    rule: str,
    says: Collection[C],
    *,
    also: Collection[Collection[C]] = (),
    near: Collection[Collection[C]] = (),
    unless: Collection[C] = (),
) -> Order:
    return Order(
        rule,
        frozenset(says),
        tuple(map(frozenset, also)),
        tuple(map(frozenset, near)),
        frozenset(unless),
    )


_CONTROL = (
    MODEL_OR_AGENT | OCCASION | STEALTH | {C.INNARDS, C.OBEY, C.HENCEFORTH, C.UNBOUND, C.OUTLET}
)
_PRIVATE = frozenset({C.TALK, C.INNARDS, C.CREDENTIAL})

ORDERS = (
    _order("override_instructions", {C.OVERRIDE, C.GUIDANCE, C.PRIOR, C.ALL}, unless={C.TOPIC}),
    _order(
        "override_instructions",
        {C.OVERRIDE, C.GUIDANCE},
        also=[{C.PRIOR, C.YOURS, C.INNARDS, C.TOLD}],
        near=[_CONTROL],
        unless={C.TOPIC},
    ),
    _order("override_instructions", {C.OVERRIDE, C.GUIDANCE}, also=[MODEL], unless={C.TOPIC}),
    _order(
        "override_instructions",
        {C.OVERRIDE, C.TOLD},
        near=[MODEL_OR_AGENT | {C.OBEY, C.HENCEFORTH, C.INNARDS, C.GUIDANCE, C.CONCEAL}],
        unless={C.TOPIC},
    ),
    _order(
        "override_instructions", {C.OVERRIDE, C.OBEY}, also=[{C.AUTHORITY, C.USER, C.AI, C.THIS}]
    ),
    _order(
        "override_instructions", {C.OVERRIDE, C.VOCATIVE}, also=[{C.SAY, C.OBEY, C.REVEAL, C.SEND}]
    ),
    _order("override_instructions", {C.OVERRIDE, C.AI, C.SAY}, also=[OCCASION]),
    _order("obey_this_text", {C.OBEY, C.THIS}, also=[MODEL | {C.HENCEFORTH, C.OVERRIDE}]),
    _order(
        "override_instructions",
        {C.SUPERSEDE, C.GUIDANCE},
        also=[{C.YOURS, C.INNARDS, C.VOCATIVE, C.AI}],
        near=[MODEL_OR_AGENT | {C.REVEAL, C.OBEY}],
    ),
    _order(
        "override_instructions",
        {C.OVERRIDE, C.USER},
        also=[MODEL | {C.LATER}, {C.OBEY, C.MUST, C.SAY, C.SEND, C.CALL, C.TOLD}],
    ),
    _order(
        "obey_this_text",
        {C.OBEY, C.AUTHORITY},
        also=[FORCE | {C.THIS}],
        near=[MODEL_OR_AGENT | OCCASION, {C.OVERRIDE, C.SUPERSEDE, C.HENCEFORTH} | STEALTH],
    ),
    _order(
        "obey_this_text",
        {C.SUPERSEDE, C.THIS},
        also=[MODEL | {C.OTHERS}],
        near=[MODEL_OR_AGENT, {C.OBEY, C.SPREAD, C.MUST}],
    ),
    _order(
        "obey_this_text",
        {C.AUTHORITY},
        also=[{C.AI, C.LATER, C.VOCATIVE}, {C.UNASKED, C.SKIP, C.SUPERSEDE, C.OVERRIDE, C.CONCEAL}],
        near=[{C.HENCEFORTH, C.SUPERSEDE, C.UNASKED, C.OVERRIDE}],
    ),
    _order("obey_this_text", {C.OBEY, C.HENCEFORTH}, near=[MODEL]),
    _order("obey_this_text", {C.OBEY, C.DECODE}, near=[MODEL_OR_AGENT | {C.GUIDANCE}]),
    _order(
        "conceal_from_user",
        {C.CONCEAL, C.AI},
        also=[
            {C.SEND, C.SAY, C.OMIT, C.SKIP, C.CALL, C.HARM, C.OVERRIDE},
            FORCE | {C.VOCATIVE, C.USER},
        ],
    ),
    _order(
        "conceal_from_user",
        {C.CONCEAL, C.USER},
        also=[{C.SEND, C.CALL, C.HARM, C.SKIP}],
        near=[MODEL | {C.READING, C.LATER}],
    ),
    _order(
        "conceal_from_user",
        {C.AI, C.MUST},
        also=[{C.SEND, C.SAY, C.OMIT, C.RANK}],
        near=[{C.CONCEAL}],
    ),
    _order("conceal_from_user", {C.CONCEAL, C.ANSWERING, C.SAY, C.THIS}, also=[FORCE | {C.USER}]),
    _order(
        "conceal_from_user",
        {C.CONCEAL, C.SKIP, C.SAFEGUARD},
        also=[{C.CALL, C.HARM, C.SEND}, {C.USER, C.TOOL, C.AI}],
    ),
    _order("act_without_asking", {C.PIPED}, near=[{C.CONCEAL, C.UNASKED, C.SKIP}]),
    _order("act_without_asking", {C.CONSENTED}, near=[{C.UNASKED}, {C.HARM, C.CALL, C.SEND}]),
    _order(
        "act_without_asking",
        {C.CONSENTED, C.USER},
        also=[{C.HARM, C.SEND}],
        near=[MODEL | {C.TOOL}],
    ),
    _order(
        "exfiltrate",
        {C.BEACON},
        near=[{C.ANSWERING, C.TALK, C.READING, C.CONCEAL, C.HARVEST}, {C.SEND, C.REVEAL, C.SAY}],
    ),
    _order(
        "exfiltrate",
        {C.TALK},
        also=[{C.SEND, C.REVEAL}],
        near=[{C.SLOT}, OCCASION | STEALTH | FORCE],
    ),
    _order(
        "exfiltrate",
        {C.HARVEST, C.CREDENTIAL},
        also=[{C.SEND, C.REVEAL}],
        near=[MODEL_OR_AGENT | {C.READING}, FORCE | STEALTH | {C.OUTLET, C.TOOL}],
    ),
    _order(
        "exfiltrate", {C.HARVEST, C.SEND, C.OUTLET}, near=[MODEL | {C.READING, C.TOOL} | STEALTH]
    ),
    _order(
        "exfiltrate",
        {C.SEND, C.OUTLET},
        also=[{C.TALK, C.INNARDS}],
        near=[MODEL | {C.LATER} | OCCASION | STEALTH],
    ),
    _order(
        "exfiltrate",
        {C.SEND, C.OUTLET, C.CREDENTIAL},
        near=[MODEL | STEALTH | {C.READING, C.LATER, C.ANSWERING, C.TOOL}],
    ),
    _order(
        "exfiltrate",
        {C.SEND, C.OUTLET, C.HOLDINGS},
        near=[MODEL | {C.READING}, FORCE | STEALTH | {C.OVERRIDE}],
    ),
    _order("exfiltrate", {C.SEND, C.OUTLET}, also=[STEALTH], near=[MODEL | {C.READING}]),
    _order(
        "exfiltrate",
        {C.SLOT},
        also=[{C.SEND, C.REVEAL, C.SAY}],
        near=[{C.TALK, C.CREDENTIAL, C.CONCEAL, C.HARVEST}, OCCASION | STEALTH | FORCE],
    ),
    _order("exfiltrate", {C.CREDENTIAL, C.OUTLET, C.MUST}, also=[MODEL | {C.LATER}]),
    _order(
        "reveal_instructions",
        {C.REVEAL, C.INNARDS},
        near=[{C.OVERRIDE, C.HENCEFORTH, C.CONCEAL, C.READING, C.VOCATIVE, C.OUTLET, C.ANSWERING}],
    ),
    _order(
        "reveal_instructions",
        {C.REVEAL, C.CREDENTIAL},
        near=[
            {C.OVERRIDE, C.VOCATIVE, C.READING, C.HENCEFORTH},
            {C.GUIDANCE, C.AI, C.VOCATIVE, C.READING},
        ],
    ),
    _order(
        "reveal_instructions",
        {C.INNARDS},
        near=[{C.REVEAL}, {C.AUTHORITY}, {C.YOURS, C.TALK, C.AI}, {C.OUTPUT, C.THIS, C.SEND}],
        unless={C.TOPIC},
    ),
    _order("tool_on_reading", {C.READING, C.CALL, C.TOOL}),
    _order(
        "addressed_to_models",
        {C.READING, C.MUST},
        also=[MODEL | {C.LATER}, {C.SAY, C.OMIT, C.SEND, C.HARM, C.SKIP, C.RANK, C.CALL}],
        unless={C.ASK},
    ),
    _order("act_without_asking", {C.CONSENTED, C.USER}, near=[{C.TOOL}, {C.CALL, C.HARM}]),
    _order("tool_on_reading", {C.TOOL, C.SEND, C.OUTLET}, also=[OCCASION], near=[{C.UNASKED}]),
    _order(
        "tool_on_reading",
        {C.READING},
        also=[{C.HARM, C.SEND}, {C.TOOL, C.HARVEST, C.TALK, C.CREDENTIAL}],
    ),
    _order("tool_on_reading", {C.READING}, also=[MODEL | {C.LATER}, {C.HARM, C.SPREAD, C.SKIP}]),
    _order(
        "tool_on_reading",
        {C.READING},
        also=[{C.HARM, C.SEND, C.SPREAD}],
        near=[MODEL | STEALTH, {C.TOOL, C.OUTLET} | STEALTH],
    ),
    _order(
        "spread_itself",
        {C.SPREAD},
        near=[MODEL_OR_AGENT | {C.READING}, {C.TOOL, C.READING, C.MUST, C.HENCEFORTH}],
    ),
    _order(
        "steer_answers",
        {C.RANK, C.MUST},
        also=[MODEL, {C.OTHERS, C.THIS, C.DRAWBACK, C.ANSWERING, C.CONCEAL}],
    ),
    _order(
        "steer_answers",
        {C.RANK, C.OTHERS},
        also=[OCCASION, {C.OMIT, C.MUST, C.CONCEAL, C.HENCEFORTH}],
    ),
    _order("steer_answers", {C.OUTPUT, C.RANK}, also=[{C.OTHERS, C.THIS}], near=[{C.CONCEAL}]),
    _order("steer_answers", {C.OMIT, C.DRAWBACK}, near=[MODEL | {C.CONCEAL}, MODEL | OCCASION]),
    _order("steer_answers", {C.VOCATIVE, C.SAY}, also=[FORCE | OCCASION | STEALTH | {C.OMIT}]),
    _order("false_lesson", {C.SKIP, C.SAFEGUARD, C.LATER}, near=[FORCE | STEALTH]),
    _order("false_lesson", {C.SKIP, C.SAFEGUARD, C.AI}, near=[STEALTH | {C.HENCEFORTH}]),
    _order("false_lesson", {C.LATER, C.UNASKED}),
    _order("false_lesson", {C.LATER, C.CONCEAL}),
    _order(
        "act_without_asking",
        {C.UNASKED},
        also=[{C.HARM, C.CALL, C.SEND, C.SKIP}],
        near=[MODEL | {C.READING}],
    ),
    _order(
        "act_without_asking",
        {C.UNASKED, C.HENCEFORTH},
        also=[{C.HARM, C.CALL, C.SEND}, {C.TOOL, C.HOLDINGS, C.USER}],
    ),
    _order(
        "ask_for_credentials",
        {C.SOLICIT, C.CREDENTIAL},
        near=[{C.SEND, C.OUTLET, C.CONCEAL, C.SPREAD}],
        unless={C.NOT},
    ),
    _order("unbound_persona", {C.PERSONA, C.UNBOUND}),
    _order("unbound_persona", {C.UNBOUND, C.AI}, near=[{C.PERSONA, C.HENCEFORTH}]),
    _order("unbound_persona", {C.PERSONA}, also=[{C.CREDENTIAL, C.INNARDS}], near=[{C.TALE}]),
    _order("unbound_persona", {C.UNBOUND}, also=[{C.INNARDS, C.VOCATIVE}]),
    _order("unbound_persona", {C.UNBOUND, C.GUIDANCE, C.YOURS}),
    _order(
        "unbound_persona", {C.TALE, C.CREDENTIAL}, near=[{C.HARVEST, C.INNARDS, C.AI, C.READING}]
    ),
    _order(
        "unbound_persona",
        {C.TALE},
        also=[{C.CREDENTIAL, C.INNARDS}, {C.AI, C.YOURS, C.INNARDS, C.HARVEST}, {C.REVEAL, C.SAY}],
    ),
    _order(
        "addressed_to_models",
        {C.VOCATIVE},
        also=[
            {C.SEND, C.CALL, C.HARM, C.RANK, C.OMIT, C.SKIP, C.REVEAL, C.OBEY},
            STEALTH | {C.HENCEFORTH, C.READING, C.OTHERS, C.OVERRIDE, C.INNARDS},
        ],
    ),
)

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

_WEIGHTY = MODEL | STEALTH | {C.OVERRIDE, C.OBEY, C.HENCEFORTH, C.SPREAD, C.UNBOUND}
_HEAVY = (
    _WEIGHTY
    | OCCASION
    | {C.TOOL, C.RANK, C.REVEAL, C.INNARDS, C.GUIDANCE, C.SAY, C.SEND, C.CREDENTIAL}
)


def order_in(here: Ideas, around: Ideas) -> str | None:
    """The first rule that the sentence breaks."""
    return next((order.rule for order in ORDERS if order.is_in(here, around)), None)


def is_suspect_when_hidden(here: Ideas) -> bool:
    """Words out of sight need far less to be an order: nobody hides a greeting."""
    return bool(here & _WEIGHTY) and len(here & _HEAVY) >= 2


def is_suspect_in_code(here: Ideas) -> bool:
    """Words in a cipher: whoever enciphers a sentence about users and secrets means it."""
    return is_suspect_when_hidden(here) or len(here & _TELLING) >= 3


_TELLING = _HEAVY | {C.USER, C.HARM, C.CALL, C.HOLDINGS, C.MUST, C.ASK, C.THIS, C.OMIT}
