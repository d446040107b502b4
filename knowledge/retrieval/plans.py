"""Which search plan is used, chosen by the number of chunks in scope."""

from enum import Enum

EXACT_CHUNKS = 2_000
"""Up to here every vector is compared; it takes about a microsecond each."""


class SemanticPlan(Enum):
    """Every vector; or bits, then vectors of the best; or a graph of a whole library."""

    EXACT = "exact"
    BITS = "bits"
    GRAPH = "graph"


class KeywordPlan(Enum):
    """Rank every chunk; or read every chunk and rank the likely; or ask the index for those."""

    SCAN = "scan"
    SIFT = "sift"
    INDEX = "index"


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
    """The index finds an owner's chunks, of which a narrow scope would throw most away.

    To read a scope costs by its chunks, to ask the index by how many others match for each of them.
    """
    if chunks <= EXACT_CHUNKS:
        return KeywordPlan.SCAN
    return KeywordPlan.SIFT if chunks * chunks < 2_500 * library_chunks else KeywordPlan.INDEX
