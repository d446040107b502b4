"""SKILL.md: YAML frontmatter with what a skill is called and for, then its instructions."""

import hashlib
import json
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.registry.frontmatter import Frontmatter, read_frontmatter
from knowledge.registry.problems import refuse_any
from knowledge.registry.schemas import problems_of
from knowledge.validation import clean_text

MAX_SKILL_MD = 500_000
FIELD = "skill_md_content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A SKILL.md, read."""

    skill_md: str
    front: Frontmatter
    name: str
    description: str
    version: str
    author: str
    license: str
    tags: tuple[str, ...]
    allowed_tools: tuple[str, ...]
    domain: str
    visibility: str
    """What its frontmatter asks for; empty where it says nothing."""

    @property
    def body(self) -> str:
        return self.front.body

    @property
    def text(self) -> str:
        """What it says to a reader, without the YAML."""
        return "\n\n".join(filter(None, (self.description, self.body.strip())))

    @property
    def attributes(self) -> dict[str, Any]:
        """What it says of itself, as far as it does."""
        said = {
            "name": self.name,
            "description": self.description,
            "version": self.version,
            "author": self.author,
            "license": self.license,
            "allowed_tools": list(self.allowed_tools),
            "domain": self.domain,
        }
        return {name: value for name, value in said.items() if value}


def read_skill(skill_md: str) -> Skill:
    """Read a SKILL.md, or refuse it with everything that is wrong."""
    clean_text(skill_md, field=FIELD, shortest=1, longest=MAX_SKILL_MD)
    front = read_frontmatter(skill_md)
    fields, problems = _with_lists(front.fields), list(front.problems)
    if fields or not problems:
        problems += problems_of(fields, "SkillFrontmatter")
    refuse_any(problems, field=FIELD, what="SKILL.md")
    return _skill(skill_md, front, fields)


def skill_digest(skill_md: str, bundle: Mapping[str, bytes]) -> str:
    """The hash of all that a skill holds."""
    files = {path: hashlib.sha256(data).hexdigest() for path, data in sorted(bundle.items())}
    held = json.dumps([skill_md, files], ensure_ascii=False)
    return hashlib.sha256(held.encode()).hexdigest()


def _with_lists(fields: dict[str, Any]) -> dict[str, Any]:
    """The same with lists where people write words in a row: `Read, Bash(git add:*)`."""
    lists = dict(fields)
    for name in ("tags", "allowed-tools"):
        if isinstance(written := fields.get(name), str):
            between = "," if name == "tags" or "," in written else string.whitespace
            lists[name] = [part for part in _split(written, between) if part]
    return lists


def _split(written: str, between: str) -> Iterator[str]:
    """Its parts, of which one in brackets is not parted again."""
    depth, part = 0, ""
    for letter in written:
        depth = max(0, depth + (letter == "(") - (letter == ")"))
        if letter in between and not depth:
            yield part.strip()
            part = ""
        else:
            part += letter
    yield part.strip()


def _skill(skill_md: str, front: Frontmatter, fields: Mapping[str, Any]) -> Skill:
    kp = fields.get("kp", {})
    return Skill(
        skill_md=skill_md,
        front=front,
        name=_line(fields["name"]),
        description=fields["description"].strip(),
        version=_line(fields.get("version", "")),
        author=_line(fields.get("author", "")),
        license=_line(fields.get("license", "")),
        tags=_each_once(fields.get("tags", ())),
        allowed_tools=_each_once(fields.get("allowed-tools", ())),
        domain=_line(kp.get("domain", "")).lower(),
        visibility=kp.get("visibility", ""),
    )


def _each_once(words: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_line, words))))


def _line(text: str) -> str:
    return " ".join(text.split())
