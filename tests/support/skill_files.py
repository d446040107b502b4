"""A skill as a file on somebody's disk."""

from pathlib import Path


def write_skill(folder: Path, name: str = "Code Review Checklist") -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.format(name=name))


SKILL = """---
name: {name}
description: Review a pull request for correctness, safety and clarity before it is merged.
version: "1.2"
tags: [code-review]
---

# {name}

Use this when a pull request is ready, and before you approve it.

1. Read the description and say in one sentence what the change is for.
2. Run `git diff --stat main` and note which modules are touched.
3. Check that `tests/` changed together with the code that it covers.
4. Follow each error path to its end, and ask what the caller is told.
"""
