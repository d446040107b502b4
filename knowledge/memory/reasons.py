"""Why an item stands in a context, in one sentence."""

from knowledge.memory.facet_search import FacetHit
from knowledge.memory.facets import GOTCHA_LABELS, Facet
from knowledge.memory.token_budget import cut
from knowledge.retrieval.passages import Passage

_MOST_WORDS = 3
_TITLE_TOKENS = 24


def reason_for(facet: Facet, found: FacetHit, passage: Passage, *, is_contested: bool) -> str:
    """What it is, what ties it to the goal, and whether something speaks against it."""
    against = "; another item contradicts it" if is_contested else ""
    return f"{_kind_sentence(facet, found)}{_tie(found, passage)}{against}."


def _kind_sentence(facet: Facet, found: FacetHit) -> str:
    kind = found.type.replace("_", " ")
    article = "An" if kind[0] in "aeiou" else "A"
    match facet:
        case Facet.DECISIONS:
            return _decision(found)
        case Facet.GOTCHAS:
            return f"Noted as a {_label(found)}"
        case Facet.CONSTRAINTS:
            return "A rule to keep to"
        case Facet.PROCEDURES:
            return f"{article} {kind} to go by"
        case Facet.ACTIVE_WORK:
            return f"A task in {found.attributes.get('status')}"
        case Facet.PRIOR_ART:
            return f"{article} {kind} from before"
        case Facet.RECENT_MEMORY:
            return f"Among the newest episodes ({found.created_at:%Y-%m-%d})"


def _decision(found: FacetHit) -> str:
    title = cut(" ".join(found.decides.split()), _TITLE_TOKENS)
    return f"It decides “{title}”" if title else "Recorded as a decision"


def _label(found: FacetHit) -> str:
    labels = {found.attributes.get("category"), *found.tags}
    return next((label for label in GOTCHA_LABELS if label in labels), GOTCHA_LABELS[0])


def _tie(found: FacetHit, passage: Passage) -> str:
    if found.score is None:
        return ""
    words = dict.fromkeys(passage.text[start:end].lower() for start, end in passage.highlights)
    if not words:
        return ", close to the goal in meaning"
    said = ", ".join(f"“{word}”" for word in list(words)[:_MOST_WORDS])
    return f" that speaks of {said}"
