from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from knowledge.access import Access
from knowledge.editing import ItemChanges, update_item
from knowledge.memory import remembering
from knowledge.memory.work import manage
from knowledge.models import (
    Agent,
    Allowance,
    AllowedFinding,
    Content,
    ContentState,
    Delivery,
    Folder,
    Item,
    Job,
    Link,
    Provider,
    Quality,
    Quarantine,
    Relation,
    Reservation,
    Source,
    Tier,
    Transform,
    Upload,
    Usage,
    Validation,
    Version,
    WebhookEvent,
)
from knowledge.registry.contributing import contribute_skill
from knowledge.uploads import begin_upload
from knowledge.webhooks import announce, create_webhook
from tests.conftest import Add, Mint
from tokens.activity import record

Task = Callable[..., Item]
Share = Callable[..., Item]
HOSTILE = "<script>alert('x')</script>"


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


def judge(item: Item, agent_id: str, *, valid: bool = True, feedback: str = "") -> Validation:
    contributor = item.added_by_agent
    return Validation.objects.create(
        item=item, agent_id=agent_id, contributor=contributor, valid=valid, feedback=feedback
    )


@pytest.fixture
def full_house(
    owner: User, library: Access, add: Add, mint: Mint, folder: Callable[[str], Folder]
) -> Item:
    """A row of every kind, with markup wherever a person or an agent may write."""
    shelf = folder(f"Shelf {HOSTILE}")
    item = add(f"Title {HOSTILE}", f"Text {HOSTILE}", shelf)
    update_item(library, item.pk, ItemChanges(title=f"Own {HOSTILE}", tags=[HOSTILE]))
    Item.objects.filter(pk=item.pk).update(index_error=HOSTILE, added_by_agent=HOSTILE)
    Content.objects.filter(items=item).update(
        author=HOSTILE,
        canonical_url=f"javascript:{HOSTILE}",
        url=f"javascript:{HOSTILE}",
        media_url=f"javascript:{HOSTILE}",
        state=ContentState.FAILED,
        reason=HOSTILE,
        error=HOSTILE,
    )
    Link.objects.create(key=HOSTILE, content=item.content)
    token = mint(shelf).row
    type(token).objects.filter(pk=token.pk).update(name=HOSTILE, agent_id=HOSTILE)
    record(token, edge="mcp", action=HOSTILE, outcome=HOSTILE, target=HOSTILE, latency_ms=5)
    Job.objects.create(queue="q", actor=HOSTILE, message=HOSTILE.encode(), error=HOSTILE)
    Usage.objects.create(owner=owner, month=date(2026, 1, 1), transcription_sec_used=90)
    Allowance.objects.create(owner=owner, tier=Tier.objects.create(name=HOSTILE))
    Reservation.objects.create(
        owner=owner, content_id=item.content_id, month=date(2026, 1, 1), seconds=90
    )
    User.objects.create_user("mallory", email="m@example.org", first_name=HOSTILE)
    Group.objects.create(name=HOSTILE)
    begin_upload(library, filename="notes.txt", media_type="text/plain", size=5)
    Upload.objects.update(filename=HOSTILE, media_type=HOSTILE)
    create_webhook(library, f"https://example.org/{HOSTILE}")
    announce(WebhookEvent.ITEM_READY, Item.objects.get(pk=item.pk))
    Delivery.objects.update(answer=HOSTILE)
    Transform.objects.create(item=item, state="done", tldr=HOSTILE, key_points=[HOSTILE])
    _remembered(item)
    _contributed(item)
    return item


def _remembered(item: Item) -> None:
    """Memory and a source, as hostile as rows can be: no ask would have written some of it."""
    project, task = (_typed(item, type) for type in ("project", "task"))
    Item.objects.filter(pk=task.pk).update(
        attributes={
            "status": "doing",
            "project": str(project.pk),
            "priority": HOSTILE,
            "assignees": [HOSTILE],
            "due_date": "2020-01-01",
            "category": HOSTILE,
            "blocked_reason": HOSTILE,
            "metadata": {HOSTILE: [{"deep": HOSTILE}]},
        }
    )
    Relation.objects.create(owner=item.owner, source=task, target=item)
    Relation.objects.create(owner=item.owner, source=task, target=project, type="depends_on")
    source = Source.objects.create(
        owner=item.owner,
        name=HOSTILE,
        start_url=f"javascript:{HOSTILE}",
        include=[HOSTILE],
        error=HOSTILE,
        added_by_agent=HOSTILE,
    )
    source.pages.create(
        key=HOSTILE, url=f"javascript:{HOSTILE}", item=item, state="kept", reason=HOSTILE[:40]
    )
    source.pages.create(key="gone", url="https://x.example/", state="failed", error=HOSTILE)


def _contributed(item: Item) -> None:
    skill, unit = (_typed(item, type) for type in ("skill", "expert_sop"))
    Item.objects.filter(pk=skill.pk).update(
        attributes={"name": HOSTILE, "domain": HOSTILE}, quarantined=True, quality=0.5
    )
    document = {"skill_md": f"# {HOSTILE}", "body": HOSTILE}
    Version.objects.create(
        item=skill,
        number=1,
        label=HOSTILE,
        digest="0" * 64,
        document=document,
        files={HOSTILE: {"text": HOSTILE}},
        added_by_agent=HOSTILE,
    )
    Version.objects.create(item=unit, number=1, digest="1" * 64, document={HOSTILE: [HOSTILE]})
    part = {"value": 0.5, "weight": 1.0, "share": 0.5, "because": HOSTILE}
    Quality.objects.create(
        item=skill,
        profile=HOSTILE,
        factors={HOSTILE: part},
        intrinsic=0.5,
        validations={HOSTILE: HOSTILE},
        score=0.5,
    )
    Validation.objects.create(
        item=skill, agent_id=HOSTILE, contributor=f"x/{HOSTILE}", valid=False, feedback=HOSTILE
    )
    finding = {"kind": "injection", "rule": HOSTILE, "sentence": HOSTILE, "path": HOSTILE}
    Item.objects.filter(pk=skill.pk).update(suspicions=[finding])
    AllowedFinding.objects.create(fingerprint="0" * 64, note=HOSTILE)
    Quarantine.objects.create(item=skill, reason="injection", findings=[finding])
    Quarantine.objects.create(item=unit, reason="reports", verdict="upheld", note=HOSTILE)
    for agent_id in (HOSTILE, f"x/{HOSTILE}"):
        Agent.objects.create(agent_id=agent_id, is_trusted=True, score=1, parts={HOSTILE: HOSTILE})
    Provider.objects.create(
        owner=item.owner,
        agent_id=HOSTILE,
        name=HOSTILE,
        description=HOSTILE,
        endpoint=f"javascript:{HOSTILE}",
        capabilities=[HOSTILE],
        last_seen_at=timezone.now(),
    )


def _typed(item: Item, type: str) -> Item:
    content = Content.objects.create(owner=item.owner, title=f"{type} {HOSTILE}", text=HOSTILE)
    return Item.objects.create(
        owner=item.owner,
        content=content,
        type=type,
        tags=[HOSTILE],
        visibility="network",
        added_by_agent=HOSTILE,
    )
