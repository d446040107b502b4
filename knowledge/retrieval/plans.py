"""Which search plan is used, chosen by the number of chunks in scope."""

from enum import Enum

EXACT_CHUNKS = 2_000
"""Up to here every vector is compared; it takes about a microsecond each."""

NARROW = 20
"""To read one tsvector takes as long as the postings of about twenty chunks."""


class SemanticPlan(Enum):
    """Every vector; or bits, then vectors of the best; or a graph of a whole library."""

    EXACT = "exact"
    BITS = "bits"
    GRAPH = "graph"


class KeywordPlan(Enum):
    """Read every tsvector of the scope; or the postings, and the tsvectors of fresh chunks."""

    READ = "read"
    PACKED = "packed"


def semantic_plan(chunks: int, *, has_graph: bool) -> SemanticPlan:
    if chunks <= EXACT_CHUNKS:
        return SemanticPlan.EXACT
    return SemanticPlan.GRAPH if has_graph else SemanticPlan.BITS


def candidates_by_bits(dimensions: int, *, wanted: int) -> int:
    """How many candidates by bits contain the true nearest; fewer dimensions need more."""
    if dimensions >= 1024:
        most = 200
    elif dimensions >= 384:
        most = 800
    else:
        most = 1_600
    return max(most, 2 * wanted)


def keyword_plan(chunks: int, *, library_chunks: int) -> KeywordPlan:
    """Postings are of a whole library, of which a narrow scope would throw most away."""
    return KeywordPlan.READ if chunks * NARROW < library_chunks else KeywordPlan.PACKED
