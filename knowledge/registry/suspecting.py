"""What is found in a skill or unit: as it stands there, and as it is read and shown."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from knowledge.models import Item, ItemType, Version
from knowledge.moderation.findings import Found, found_in
from knowledge.registry import bundles
from knowledge.registry.frontmatter import Frontmatter, read_frontmatter
from knowledge.registry.skill_format import FIELD
from knowledge.text.file_text import readable


def found_in_skill(
    front: Frontmatter, bundle: Mapping[str, bytes], *, in_full: bool = False
) -> Found:
    """The name of a field tells a secret, but `author:` must not pass for its author speaking."""
    named = found_in({FIELD: front.text}, in_full=in_full)
    read = found_in({FIELD: front.fields}, in_full=in_full)
    files = {path: readable(data) for path, data in bundle.items()}
    words = {FIELD: f"{front.said}\n\n{front.body}", "files": files}
    said = found_in(words, in_full=in_full)
    return replace(said, secrets=named.secrets or read.secrets or said.secrets)


def found_in_unit(document: Mapping[str, Any], *, in_full: bool = False) -> Found:
    return found_in({"unit": document}, in_full=in_full)


def found_in_version(item: Item, version: Version | None) -> Found:
    if version is None:
        return found_in({"content": item.content.text})
    if item.type == ItemType.SKILL:
        front = read_frontmatter(version.document["skill_md"])
        return found_in_skill(front, bundles.as_bytes(version.files))
    return found_in_unit(version.document)


def found_beside(item: Item) -> Found:
    """What an item says of itself, which need not be what its version says."""
    return found_in({"title": item.title, "tags": item.tags, **item.attributes})
