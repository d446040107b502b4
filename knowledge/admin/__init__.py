"""The admin of the library: one module per noun. Importing them registers them."""

from knowledge.admin import (
    allowed_findings,
    contents,
    contributions,
    documentation,
    folders,
    generations,
    items,
    jobs,
    memory,
    quarantine,
    relations,
    reputation,
    tiers,
    uploads,
    usage,
    webhooks,
)

__all__ = [
    "allowed_findings",
    "contents",
    "contributions",
    "documentation",
    "folders",
    "generations",
    "items",
    "jobs",
    "memory",
    "quarantine",
    "relations",
    "reputation",
    "tiers",
    "uploads",
    "usage",
    "webhooks",
]
