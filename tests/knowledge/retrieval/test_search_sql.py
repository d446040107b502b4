"""docs/search-sql.md shows the SQL of every mode and plan as the engine writes it."""

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from django.conf import settings

from knowledge.access import Access, Capability
from knowledge.models import Generation
from knowledge.models.prepared import Binary
from knowledge.retrieval import scope, statement, visibility_sql
from knowledge.retrieval.plans import KeywordPlan, SemanticPlan, keyword_plan, semantic_plan
from knowledge.retrieval.query_words import KeywordQuery, Phrase, Term
from knowledge.retrieval.scope import Reach, Scope
from tests.support.sql import laid_out

PAGE = Path(settings.BASE_DIR) / "docs/search-sql.md"
RENEW = f"RENEW=1 .venv/bin/python -m pytest -n 0 {Path(__file__).relative_to(settings.BASE_DIR)}"
INTRO = f"""# The SQL of a search

Written by a test from the engine itself, for review; do not edit it by hand. After a change to
`knowledge/retrieval`, renew it and read the difference:

```
{RENEW}
```

A search runs two statements: [what is in reach](#what-is-in-reach), then one ranking, which is
built for the mode and for the number of chunks in reach (`plans.py`). The ranking is wrapped in
[what an answer shows](#what-an-answer-shows). Values are sent apart from the text, by name. The
examples ask for two words; a text is the same for any number of them, which are sent as arrays.
"""

OWNER = Access.whole_library(1)
FOLDER = Access(
    owner_id=1, capabilities=frozenset({Capability.READ}), folder_ids=frozenset({UUID(int=2)})
)
GENERATION = Generation(pk=1, dimensions=384, background=0.5)
WORDS = KeywordQuery((Term("stones", ("stone",)), Term("granite", ("granit",))))
MARKED = KeywordQuery(
    (Term("old", ("old",)), Term("hills", ("hill", "hills")), Term("gran", ("gran",), 1, True)),
    required=(Phrase("'old' <-> 'hill'", frozenset({0, 1})),),
    preferred=(Phrase("'old' <-> 'hill'", frozenset({0, 1})),),
    excluded=("('marble') & !'-marble'",),
)


def reached(chunks: int, library: int, *, reach: Reach = Reach.LIBRARY) -> Scope:
    """A folder of that many chunks, or a library with a few items that no search finds."""
    is_whole = chunks == library and reach is Reach.LIBRARY
    return Scope(
        access=OWNER if is_whole else FOLDER,
        reach=reach,
        is_whole=is_whole,
        items=Binary(b""),
        owner_ids=[1, 2] if reach is Reach.REGISTRY else None,
        chunks=chunks,
        words=200 * chunks,
        library_chunks=library,
        languages=frozenset({"en"}),
        leaves_out=is_whole and chunks < 100_000,
        gone=9 if is_whole and chunks < 100_000 else 0,
        finds_archived=False,
    )


SCOPES = {
    "a folder of 1,000 chunks": reached(1_000, 50_000),
    "a folder of 5,000 chunks in a library of 50,000": reached(5_000, 50_000),
    "a library of 50,000 chunks": reached(50_000, 50_000),
    "a library of 200,000 chunks, with a graph": reached(200_000, 200_000),
    "the registry, 50,000 chunks": reached(50_000, 50_000, reach=Reach.REGISTRY),
}


def plans_of(where: Scope) -> tuple[KeywordPlan, SemanticPlan]:
    return (
        keyword_plan(where.chunks, library_chunks=where.library_chunks),
        semantic_plan(where.chunks, has_graph=where.chunks > 100_000),
    )


def test_the_examples_have_every_plan() -> None:
    chosen = [plans_of(where) for where in SCOPES.values()]
    assert {by_word for by_word, _ in chosen} == set(KeywordPlan)
    assert {by_meaning for _, by_meaning in chosen} == set(SemanticPlan)


def test_the_page_shows_the_sql_that_the_engine_writes() -> None:
    written = INTRO + "".join(sections())
    if os.environ.get("RENEW"):
        PAGE.write_text(written)
    assert PAGE.read_text() == written, f"renew it: {RENEW}"


def sections() -> Iterator[str]:
    yield "\n## What is in reach\n"
    yield from grounds()
    for mode in ("semantic", "keyword", "hybrid"):
        yield f"\n## {mode.capitalize()}\n"
        yield from rankings(mode)
    yield "\n## Phrases and exclusions\n"
    yield shown("Hybrid, bits and packed: required_0 and preferred_0 never come together", marked())
    yield "\n## What an answer shows\n"
    where = SCOPES["a folder of 1,000 chunks"]
    for much in statement.Shown:
        sql, _ = statement.statement_for(much, "the ranking", where)
        name = much.name.replace("_", " ").capitalize()
        yield shown(f"{name}, to a token of one folder", sql)


def grounds() -> Iterator[str]:
    library, registry = Reach.LIBRARY, Reach.REGISTRY
    for name, reach, (items, _), is_all_ours in (
        (
            "A whole library, by what it leaves out",
            library,
            visibility_sql.hidden_items_sql(OWNER),
            True,
        ),
        ("A token of one folder", library, visibility_sql.searchable(FOLDER), False),
        ("The registry", registry, visibility_sql.published_items_sql(OWNER), True),
    ):
        yield shown(name, scope._ground_sql(items, reach, is_all_ours=is_all_ours))


def rankings(mode: str) -> Iterator[str]:
    seen = set[str]()
    for name, where in SCOPES.items():
        by_word, by_meaning = plans_of(where)
        names = {
            "semantic": by_meaning.value,
            "keyword": by_word.value,
            "hybrid": f"{by_meaning.value} and {by_word.value}",
        }
        words = None if mode == "semantic" else WORDS
        sql = statement.ranking_statement(where, GENERATION, words, mode, by_word, by_meaning)
        if sql not in seen:
            yield shown(f"{mode.capitalize()}, {names[mode]}: {name}", sql)
        seen.add(sql)


def marked() -> str:
    where = SCOPES["a library of 50,000 chunks"]
    return statement.ranking_statement(where, GENERATION, MARKED, "hybrid", *plans_of(where))


def shown(title: str, sql: str) -> str:
    return f"\n### {title}\n```sql\n{laid_out(sql)}\n```\n"
