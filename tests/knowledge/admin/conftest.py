from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.memory import remembering
from knowledge.memory.task_changes import manage
from knowledge.models import (
    Item,
)
from knowledge.registry.contributing import contribute_skill
from tests.support.admin import HOSTILE, Share, Task, furnish


@pytest.fixture
def project(library: Access) -> Item:
    return remembering.add(
        library, title="Rewrite", content="All of it.", entity_type="project"
    ).item


@pytest.fixture
def task(library: Access, project: Item) -> Task:
    """A task that has come as far as a status, by legal moves."""
    way = ["todo", "doing", "blocked"]

    def make(title: str, status: str = "backlog", **fields: Any) -> Item:
        fields = {"project": project.pk, "entity_type": "task", **fields}
        made = remembering.add(
            library, title=title, content=f"{title}: all there is to it.", **fields
        ).item
        for step in way[: way.index(status) + 1] if status in way else []:
            manage(library, action="update_task", entity_id=made.pk, data={"status": step})
        made.refresh_from_db()
        return made

    return make


@pytest.fixture
def share(library: Access) -> Share:
    """Contribute a skill as an agent of the owner's."""
    agent = replace(library, agent_id="ada/laptop")

    def share_one(name: str = "review", body: str = "Read it aloud.", **asked: Any) -> Item:
        about = f"name: {name}\ndescription: Review a change before it is merged."
        text = f"---\n{about}\nversion: 1.0.0\n---\n# {name}\n\n{body}\n"
        return contribute_skill(agent, skill_md_content=text, **asked).item

    return share_one


@pytest.fixture
def full_house(owner: User) -> Item:
    """A row of every kind, with markup wherever a person or an agent may write."""
    User.objects.create_user("mallory", email="m@example.org", first_name=HOSTILE)
    return furnish(owner, HOSTILE)
