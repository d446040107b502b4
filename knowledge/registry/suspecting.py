"""What is found in a skill or unit: as it stands there, and as it is read and shown."""

from collections.abc import Mapping
from typing import Any

from knowledge import quarantine
from knowledge.models import Item, ItemType, Version
from knowledge.quarantine import Found
from knowledge.registry import bundles
from knowledge.registry.frontmatter import Frontmatter, read_frontmatter
from knowledge.registry.skill_format import FIELD


def found_in_skill(front: Frontmatter, bundle: Mapping[str, bytes]) -> Found:
    """The name of a field tells a secret, but `author:` must not pass for its author speaking."""
    named, _ = quarantine.found_in({FIELD: front.text})
    read, _ = quarantine.found_in({FIELD: front.fields})
    files = {path: bundles.readable(data) for path, data in bundle.items()}
    told, orders = quarantine.found_in({FIELD: f"{front.said}\n\n{front.body}", "files": files})
    return named or read or told, orders


def found_in_unit(document: Mapping[str, Any]) -> Found:
    return quarantine.found_in({"unit": document})


def found_in_version(item: Item, version: Version | None) -> Found:
    if version is None:
        return quarantine.found_in({"content": item.content.text})
    if item.type == ItemType.SKILL:
        front = read_frontmatter(version.document["skill_md"])
        return found_in_skill(front, bundles.as_bytes(version.files))
    return found_in_unit(version.document)


def found_beside(item: Item) -> Found:
    """What an item says of itself, which need not be what its version says."""
    return quarantine.found_in({"title": item.title, "tags": item.tags, **item.attributes})
