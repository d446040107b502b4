"""The YAML at the beginning of a SKILL.md, read as text alone: no types, aliases or tags."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import yaml

from knowledge.registry.problems import Problem, path_to
from knowledge.validation import storage_faults

MAX_FRONTMATTER = 20_000
MAX_DEPTH = 8
FRONTMATTER = "frontmatter"

_PARTED = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<front>.*?)^---[ \t]*\r?(?:\n(?P<body>.*))?\Z",
    re.DOTALL | re.MULTILINE,
)
_KEY = re.compile(r"^([ \t]*(?:-[ \t]+)?)[\w.-]{1,100}:(?=\s)", re.MULTILINE)
_NULL, _STR = "tag:yaml.org,2002:null", "tag:yaml.org,2002:str"
_FIRST_LINE = 2
"""Of the file, on which the YAML begins."""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The fields, every scalar as the text that stands there; what follows; what is wrong."""

    fields: dict[str, Any]
    body: str
    problems: list[Problem]
    text: str = ""
    unescaped: tuple[str, ...] = ()
    """The scalars that are read otherwise than they are written: `\\u0069` is an i."""

    @property
    def written_text(self) -> str:
        """All that people wrote there, comments too, without the names of the fields.

        Then the values of escape sequences, because that is what readers of the fields see.
        """
        return "\n\n".join([_KEY.sub(r"\1", self.text), *self.unescaped])


def read_frontmatter(skill_md: str) -> Frontmatter:
    """What a SKILL.md begins with, and the Markdown after it."""
    match = _PARTED.match(skill_md)
    if match is None:
        return _unreadable("must begin the file: YAML between two lines of ---")
    if len(match["front"]) > MAX_FRONTMATTER:
        return _unreadable(f"must have at most {MAX_FRONTMATTER:,} characters")
    try:
        node = _Loader(match["front"]).get_single_node()
    except yaml.YAMLError as error:
        return _unreadable(_error_text(error))
    if not isinstance(node, yaml.MappingNode):
        return _unreadable("must be fields, such as name: and description:")
    problems: list[Problem] = []
    fields = _mapping(node, (), problems)
    unescaped = tuple(_values_of_escapes(node, match["front"]))
    return Frontmatter(fields, match["body"] or "", problems, match["front"], unescaped)


def _unreadable(why: str) -> Frontmatter:
    return Frontmatter({}, "", [Problem(FRONTMATTER, why)])


class _Loader(yaml.SafeLoader):
    """Refuses, while it reads, all that could make little YAML into much or into objects."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise _yaml_error("anchors and aliases (& and *) are not taken", event)
        if event.tag is not None:
            raise _yaml_error("tags (!) are not taken", event)
        if self._depth > MAX_DEPTH:
            raise _yaml_error(f"it may be nested at most {MAX_DEPTH} deep", event)
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _yaml_error(message: str, event: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=message, problem_mark=event.start_mark)


def _error_text(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"cannot be read: {error.problem}{_on_line(error.problem_mark)}"
    return f"cannot be read: {getattr(error, 'reason', 'it is no YAML')}"


def _on_line(mark: yaml.Mark) -> str:
    return f" (line {mark.line + _FIRST_LINE})"


def _values_of_escapes(node: yaml.Node, text: str) -> Iterator[str]:
    """Values that differ from their source by more than line breaks and indents."""
    if isinstance(node, yaml.ScalarNode):
        written = text[node.start_mark.index : node.end_mark.index]
        if " ".join(node.value.split()) not in " ".join(written.split()):
            yield node.value
        return
    inner = chain(*node.value) if isinstance(node, yaml.MappingNode) else node.value
    for each in inner:
        yield from _values_of_escapes(each, text)


Path = tuple[str | int, ...]


def _value(node: yaml.Node, path: Path, problems: list[Problem]) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, problems)
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, (*path, n), problems) for n, each in enumerate(node.value)]
    problems += [Problem(path_to(path), why) for why in storage_faults(node.value)]
    return None if node.tag == _NULL else node.value


def _mapping(node: yaml.MappingNode, path: Path, problems: list[Problem]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in node.value:
        if key.tag != _STR or list(storage_faults(key.value)):
            told = f"must have keys that are text{_on_line(key.start_mark)}"
            problems.append(Problem(path_to(path) if path else FRONTMATTER, told))
            continue
        here = (*path, key.value)
        if key.value in fields:
            told = f"is there twice{_on_line(key.start_mark)}"
            problems.append(Problem(path_to(here), told))
        fields[key.value] = _value(value, here, problems)
    return {name: value for name, value in fields.items() if value is not None}
