"""Scores a contribution here, or in a reader process where a long one would hold others up."""

from dataclasses import astuple

from knowledge.budgets import ASSESS_IN_PLACE
from knowledge.sources.parsers.frames import Frame
from knowledge.sources.readers import LONG_TEXT, opened_readers
from knowledge.trust.quality import Assessment, Factor, Json, Measurement, assess, texts_of


def assess_anywhere(
    type: str, document: Json, novelty: Measurement, *, domain: str = ""
) -> Assessment:
    """What `assess` answers."""
    readers = opened_readers()
    length = sum(map(len, texts_of(document)))
    if readers is None or length <= ASSESS_IN_PLACE.most:
        return assess(type, document, novelty, domain=domain)
    asked = [type, dict(document), astuple(novelty), domain]
    given = readers.call(f"{__name__}:assess_in_reader", asked, is_long=length > LONG_TEXT)
    profile, factors = given.value
    return Assessment(profile, tuple(Factor(*factor) for factor in factors))


def assess_in_reader(asked: Frame) -> Frame:
    """The same, in a reader."""
    type, document, novelty, domain = asked.value
    assessment = assess(type, document, Measurement(*novelty), domain=domain)
    return Frame([assessment.profile, [astuple(factor) for factor in assessment.factors]])
