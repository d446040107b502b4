"""Of a very long query, the terms that weigh most in the scope."""

from knowledge.indexing.packing import CHUNK_SHIFT
from knowledge.retrieval.binary_cursor import fetch
from knowledge.retrieval.keyword import params, weighed_parts
from knowledge.retrieval.plans import KeywordPlan, keyword_plan
from knowledge.retrieval.query_words import KeywordQuery
from knowledge.retrieval.scope import SCOPE_SQL, Scope

MOST_TERMS = 64
"""Of a longer query the terms that weigh most in the scope count."""


def heaviest_terms(scope: Scope, query: KeywordQuery) -> KeywordQuery:
    """The query with no more terms than can be ranked by: those that weigh most in the scope."""
    if len(query.terms) <= MOST_TERMS:
        return query
    plan = keyword_plan(scope.chunks, library_chunks=scope.library_chunks)
    values = {"owner": scope.owner_id, "owners": scope.owner_ids, "items": scope.items}
    rows = fetch(_counts_sql(scope, query, plan), values | params(scope, query))
    weights = {row["term"]: float(row["idf"]) for row in rows}
    kept = sorted(sorted(weights, key=lambda n: (-weights[n], n))[:MOST_TERMS])
    return query.with_terms(kept or range(MOST_TERMS))


def _counts_sql(scope: Scope, query: KeywordQuery, plan: KeywordPlan) -> str:
    """What each term weighs. Of a tsvector each lexeme is looked up: terms are too many to ask."""
    parts = weighed_parts(scope, query, plan, read=_READ_OF_MANY)
    return f"WITH {SCOPE_SQL},{','.join(parts)} SELECT * FROM rarity"


_READ_OF_MANY = f"""
    read AS (
        SELECT DISTINCT term, chunk_id << {CHUNK_SHIFT} AS entry
        FROM knowledge_chunktext, unnest(tsv) AS each JOIN asked ON word = lexeme
        WHERE {{condition}}
    )"""
