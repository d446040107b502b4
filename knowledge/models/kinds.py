"""Items of one kind, for the pages that show no others."""

from typing import Any, ClassVar

from django.db import models

from knowledge.models.item import MEMORY_TYPES, REGISTRY_TYPES, Item, ItemQuerySet

_Items = models.Manager.from_queryset(ItemQuerySet)


class _MemoryOnly(_Items["Memory"]):
    def get_queryset(self) -> Any:
        return super().get_queryset().filter(type__in=MEMORY_TYPES)


class _ContributionsOnly(_Items["Contribution"]):
    def get_queryset(self) -> Any:
        return super().get_queryset().filter(type__in=REGISTRY_TYPES)


class Memory(Item):
    """What agents remember: patterns, rules, templates, topics, episodes, tasks, projects."""

    objects: ClassVar[_MemoryOnly] = _MemoryOnly()

    class Meta:
        proxy = True
        verbose_name = "memory item"
        verbose_name_plural = "memory"


class Contribution(Item):
    """What agents contribute to the registry: skills and knowledge units."""

    objects: ClassVar[_ContributionsOnly] = _ContributionsOnly()

    class Meta:
        proxy = True
        verbose_name = "skill or unit"
        verbose_name_plural = "skills and units"
