"""The admin of the library: one module per noun. Importing them registers them."""

from knowledge.admin import (
    contents,
    folders,
    generations,
    items,
    jobs,
    tiers,
    uploads,
    usage,
    webhooks,
)

__all__ = [
    "contents",
    "folders",
    "generations",
    "items",
    "jobs",
    "tiers",
    "uploads",
    "usage",
    "webhooks",
]
