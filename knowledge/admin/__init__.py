"""The admin of the library: one module per noun. Importing them registers them."""

from knowledge.admin import (
    allowed,
    contents,
    documentation,
    folders,
    generations,
    items,
    jobs,
    memory,
    quarantine,
    registry,
    relations,
    reputation,
    tiers,
    uploads,
    usage,
    webhooks,
)

__all__ = [
    "allowed",
    "contents",
    "documentation",
    "folders",
    "generations",
    "items",
    "jobs",
    "memory",
    "quarantine",
    "registry",
    "relations",
    "reputation",
    "tiers",
    "uploads",
    "usage",
    "webhooks",
]
