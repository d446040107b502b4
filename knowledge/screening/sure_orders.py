"""The few orders to a model that need no judge: the classics, which are quoted so often.

Where everybody cites a sentence as the example of an attack, what was learned takes it for talk.
"""

from dataclasses import dataclass

from knowledge.screening.concepts import Concept as C
from knowledge.screening.reading import Ideas, ideas_of

Group = frozenset[C]

_MODEL = frozenset({C.AI, C.VOCATIVE})
_ACTS = frozenset({C.SAY, C.SEND, C.REVEAL, C.CALL, C.HARM, C.OMIT, C.SOLICIT, C.RANK})
_CONCERNED = _MODEL | {C.AGENT, C.USER, C.INNARDS, C.OUTLET, C.CREDENTIAL}
_BEYOND_TALK = frozenset(
    {C.OVERRIDE, C.HENCEFORTH, C.CONCEAL, C.READING, C.VOCATIVE, C.OUTLET, C.ANSWERING}
)
_OTHERWISE = frozenset({C.TOPIC, C.SUPERSEDE})
_OPENING = 32
"""Characters in which an order has come to its verb."""


@dataclass(frozen=True, slots=True)
class Order:
    """All of `says` in one sentence, one of each `also` there too, one of `near` around it."""

    rule: str
    says: Group
    also: tuple[Group, ...] = ()
    near: Group = frozenset(C)
    opens: Group = frozenset()
    """What the sentence must begin with, as an order does and a report of one does not."""

    def is_in(self, words: str, here: Ideas, around: Ideas) -> bool:
        return (
            self.says <= here
            and not _OTHERWISE & here
            and all(group & here for group in self.also)
            and bool(self.near & around)
            and self.opens <= ideas_of(words[:_OPENING])
        )


ORDERS = (
    Order(
        "override_instructions",
        frozenset({C.OVERRIDE, C.GUIDANCE, C.PRIOR, C.ALL}),
        opens=frozenset({C.OVERRIDE}),
    ),
    Order(
        "override_instructions",
        frozenset({C.OVERRIDE, C.GUIDANCE, C.PRIOR}),
        also=(_ACTS, _CONCERNED),
        opens=frozenset({C.OVERRIDE}),
    ),
    Order("override_instructions", frozenset({C.OVERRIDE, C.GUIDANCE, C.YOURS}), also=(_ACTS,)),
    Order("override_instructions", frozenset({C.OVERRIDE, C.GUIDANCE}), also=(_MODEL,)),
    Order("override_instructions", frozenset({C.OVERRIDE, C.TOLD}), also=(_ACTS - {C.SAY},)),
    Order(
        "override_instructions",
        frozenset({C.OVERRIDE, C.PRIOR}),
        also=(frozenset({C.TOLD, C.INNARDS}), _ACTS),
    ),
    Order("reveal_instructions", frozenset({C.REVEAL, C.INNARDS}), near=_BEYOND_TALK),
    Order(
        "addressed_to_models",
        frozenset({C.READING, C.MUST}),
        also=(_MODEL | {C.LATER}, _ACTS),
    ),
    Order(
        "act_without_asking",
        frozenset({C.PIPED}),
        near=_MODEL | {C.AGENT, C.CONCEAL, C.UNASKED, C.SKIP},
    ),
)


def order_in(words: str, here: Ideas, around: Ideas) -> str | None:
    """The first of these orders that the sentence gives."""
    return next((order.rule for order in ORDERS if order.is_in(words, here, around)), None)
