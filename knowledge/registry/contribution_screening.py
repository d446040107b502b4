"""Screens skills and units: both as written and as parsed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from knowledge.models import Item, ItemType, Version
from knowledge.moderation.findings import ScreeningResult, screen_value
from knowledge.registry import bundles
from knowledge.registry.frontmatter import Frontmatter, read_frontmatter
from knowledge.registry.skill_format import FIELD
from knowledge.text.file_text import readable


def screen_skill(
    front: Frontmatter, bundle: Mapping[str, bytes], *, in_full: bool = False
) -> ScreeningResult:
    """The name of a field tells a secret, but `author:` must not pass for its author speaking."""
    named = screen_value({FIELD: front.text}, in_full=in_full)
    read = screen_value({FIELD: front.fields}, in_full=in_full)
    files = {path: readable(data) for path, data in bundle.items()}
    words = {FIELD: f"{front.written_text}\n\n{front.body}", "files": files}
    said = screen_value(words, in_full=in_full)
    return replace(said, secrets=named.secrets or read.secrets or said.secrets)


def screen_unit(document: Mapping[str, Any], *, in_full: bool = False) -> ScreeningResult:
    return screen_value({"unit": document}, in_full=in_full)


def screen_version(item: Item, version: Version | None) -> ScreeningResult:
    if version is None:
        return screen_value({"content": item.content.text})
    if item.type == ItemType.SKILL:
        front = read_frontmatter(version.document["skill_md"])
        return screen_skill(front, bundles.as_bytes(version.files))
    return screen_unit(version.document)


def screen_item_fields(item: Item) -> ScreeningResult:
    """Screen the item's own fields, which may differ from those of its version."""
    return screen_value({"title": item.title, "tags": item.tags, **item.attributes})
