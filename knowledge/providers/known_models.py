"""What is known of models by their names: prices, languages, and the words put before a text."""

import re

Prices = dict[str, tuple[float, float]]
"""US dollars for a million tokens that a model reads and writes, by how its name begins."""

# As published in October 2026. The first name that a model's begins with counts, so longer names
# stand before shorter ones.
PRICES: Prices = {
    "text-embedding-3-small": (0.02, 0.0),
    "text-embedding-3-large": (0.13, 0.0),
    "text-embedding-ada-002": (0.10, 0.0),
    "voyage-context-3": (0.18, 0.0),
    "rerank-2.5-lite": (0.02, 0.0),
    "rerank-2.5": (0.05, 0.0),
    "gpt-5.6-luna": (0.20, 1.20),
    "gpt-5.6-terra": (2.0, 12.0),
    "gpt-5.6-sol": (4.0, 20.0),
    "gpt-5-nano": (0.05, 0.40),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-4.1-nano": (0.10, 0.40),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4o-mini": (0.15, 0.60),
}
USD_PER_HOUR = {"whisper-1": 0.36, "gpt-4o-mini-transcribe": 0.18, "gpt-4o-transcribe": 0.36}

_ENGLISH = frozenset({"en"})
_ENGLISH_ALONE = (
    r"nomic-embed-text(?!-v2)|mxbai-embed|all-minilm|bge-(small|base|large)(-en)?\b|"
    r"snowflake-arctic-embed(?!2|-[lm]-v2)|gte-(small|base|large)\b|e5-(small|base|large)(-v2)?\b|"
    r"granite-embedding.*(english|30m|125m)"
)
_MULTILINGUAL = r"multilingual|bge-m3|e5-mistral"

# What their makers say is to stand before a question and before a passage.
_PREFIXES = {
    r"nomic-embed-text": ("search_query: ", "search_document: "),
    r"embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    r"qwen3-embedding": (
        "Instruct: Given a question, retrieve passages that answer it\nQuery:",
        "",
    ),
    r"mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
    r"bge-(small|base|large)-en": (
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
    r"snowflake-arctic-embed": ("query: ", ""),
    r"(multilingual-e5|\be5)-(small|base|large)(?!-instruct)": ("query: ", "passage: "),
}


def prices_of(model: str, also: Prices | None = None) -> tuple[float, float] | None:
    """What a million tokens cost, by the operator's own list first; None if nobody knows."""
    for prices in (also or {}, PRICES):
        for name, price in prices.items():
            if _plain(model).startswith(name.lower()):
                return price
    return None


def languages_of(model: str) -> frozenset[str] | None:
    """What an embedder knows; None if it knows many, or nobody says."""
    name = _plain(model)
    if re.search(_MULTILINGUAL, name):
        return None
    return _ENGLISH if re.search(_ENGLISH_ALONE, name) else None


def prefixes_of(model: str) -> tuple[str, str]:
    """What is put before a question, and before a passage."""
    found = (words for name, words in _PREFIXES.items() if re.search(name, _plain(model)))
    return next(found, ("", ""))


def _plain(model: str) -> str:
    """The name alone, without whose it is: `BAAI/bge-m3` is `bge-m3`."""
    return model.lower().rpartition("/")[2]
