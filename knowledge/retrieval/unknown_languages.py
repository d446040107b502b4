"""What a search by meaning is worth when the embedder does not know the question's language."""

from collections.abc import Set

from django.conf.locale import LANG_INFO

from knowledge.indexing.generations import embedder_of
from knowledge.models import Generation
from knowledge.retrieval.fusion import SEMANTIC_WEIGHT
from knowledge.text.question_language import LATIN, script_of, unknown_language

UNKNOWN_WEIGHT = 0.45
"""Of meaning: names and borrowed words still tell something."""

OTHER_SCRIPT_WEIGHT = 0.3
"""Letters that a model never read tell it less; both are measured in docs/benchmarks/ranking.md."""

_CONSEQUENCES = {
    "hybrid": "meaning counts for less and words for more",
    "semantic": "it may miss what hybrid or keyword mode finds by its words",
}


def weight_of_meaning(
    question: str, generation: Generation, in_library: Set[str], mode: str = "hybrid"
) -> tuple[float, str | None]:
    """How much meaning counts in the blend, and what to tell the caller if that is less."""
    embedder = embedder_of(generation)
    if embedder.languages is None:
        return SEMANTIC_WEIGHT, None
    language = unknown_language(question, embedder.languages, in_library)
    if not language:
        return SEMANTIC_WEIGHT, None
    note = (
        f"The embedder {embedder.name} does not know the question's language "
        f"({name_of(language)}), so {_CONSEQUENCES[mode]}."
    )
    is_latin = script_of(question) == LATIN
    return UNKNOWN_WEIGHT if is_latin else OTHER_SCRIPT_WEIGHT, note


def name_of(language: str) -> str:
    """Its English name; the letters themselves where that is not known."""
    found = LANG_INFO.get(language, {})
    return str(found.get("name") or LANG_INFO.get(f"{language}-hans", {}).get("name", language))
