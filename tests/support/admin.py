"""Rows of every kind for the admin to show, with markup wherever somebody may write."""

from collections.abc import Callable
from datetime import date

from django.contrib.auth.models import Group, Permission, User
from django.utils import timezone

from accounts.models import Invitation
from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.ingest.uploads import begin_upload
from knowledge.ledger.webhooks import announce, create_webhook
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import create_folder, file_item
from knowledge.models import (
    Agent,
    Allowance,
    AllowedFinding,
    ArchiveImport,
    Content,
    ContentState,
    Delivery,
    Export,
    Feed,
    Highlight,
    ImportBatch,
    Item,
    Job,
    Link,
    Provider,
    Quality,
    Quarantine,
    Relation,
    Reservation,
    SavedSearch,
    Source,
    Tier,
    Transform,
    Upload,
    Usage,
    Validation,
    Version,
    WebhookEvent,
)
from tests.support.library import LONG_ENOUGH
from tokens.activity import record
from tokens.minting import TokenRequest, mint_token
from tokens.models import Token

Task = Callable[..., Item]
Share = Callable[..., Item]
HOSTILE = "<script>alert('x')</script>"


def judge(item: Item, agent_id: str, *, valid: bool = True, feedback: str = "") -> Validation:
    contributor = item.added_by_agent
    return Validation.objects.create(
        item=item, agent_id=agent_id, contributor=contributor, valid=valid, feedback=feedback
    )


def make_staff(person: User, *codenames: str) -> User:
    """Let somebody open the admin, with just these permissions: they meet their own library."""
    User.objects.filter(pk=person.pk).update(is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return User.objects.get(pk=person.pk)


def furnish(owner: User, mark: str) -> Item:
    """Give somebody a row of every kind, with a mark wherever a person or an agent may write."""
    library = Access.whole_library(owner.pk)
    shelf = create_folder(library, f"Shelf {mark}")
    item = add_text(library, title=f"Title {mark}", text=f"Text {mark}{LONG_ENOUGH}")
    file_item(library, item.pk, [shelf.pk])
    update_item(library, item.pk, ItemChanges(title=f"Own {mark}", tags=[mark]))
    Item.objects.filter(pk=item.pk).update(index_error=mark, added_by_agent=mark)
    Content.objects.filter(items=item).update(
        author=mark,
        canonical_url=f"javascript:{mark}",
        url=f"javascript:{mark}",
        media_url=f"javascript:{mark}",
        state=ContentState.FAILED,
        reason=mark,
        error=mark,
    )
    Link.objects.create(key=mark, content=item.content)
    request = TokenRequest(name=mark, folder_ids=[shelf.pk], can_write=True, toolsets=["library"])
    token, _ = mint_token(owner, request)
    Token.objects.filter(pk=token.pk).update(agent_id=mark)
    record(token, edge="mcp", action=mark, outcome=mark, target=mark, latency_ms=5)
    Job.objects.create(queue="q", actor=mark, message=mark.encode(), error=mark)
    Usage.objects.create(owner=owner, month=date(2026, 1, 1), transcription_sec_used=90)
    Allowance.objects.create(owner=owner, tier=Tier.objects.create(name=mark))
    Reservation.objects.create(
        owner=owner, content_id=item.content_id, month=date(2026, 1, 1), seconds=90
    )
    Group.objects.create(name=mark)
    Invitation.objects.create(digest=mark[:64], email=mark, expires_at=timezone.now())
    begin_upload(library, filename="notes.txt", media_type="text/plain", size=5)
    Upload.objects.filter(owner=owner).update(filename=mark, media_type=mark)
    create_webhook(library, f"https://example.org/{mark}")
    announce(WebhookEvent.ITEM_READY, Item.objects.get(pk=item.pk))
    Delivery.objects.filter(webhook__owner=owner).update(answer=mark)
    Transform.objects.create(item=item, state="done", tldr=mark, key_points=[mark])
    Export.objects.create(owner=owner, state="failed", error=mark)
    problem = {"file": mark, "line": 1, "message": mark}
    ArchiveImport.objects.create(
        owner=owner, state="failed", error=mark, report={"failed": 1, "problems": [problem]}
    )
    _remembered(item, mark)
    _contributed(item, mark)
    return item


def _remembered(item: Item, mark: str) -> None:
    """Memory and a source, as hostile as rows can be: no ask would have written some of it."""
    project, task = (_typed(item, type, mark) for type in ("project", "task"))
    Item.objects.filter(pk=task.pk).update(
        attributes={
            "status": "doing",
            "project": str(project.pk),
            "priority": mark,
            "assignees": [mark],
            "due_date": "2020-01-01",
            "category": mark,
            "blocked_reason": mark,
            "metadata": {mark: [{"deep": mark}]},
        }
    )
    Relation.objects.create(owner=item.owner, source=task, target=item)
    Relation.objects.create(owner=item.owner, source=task, target=project, type="depends_on")
    source = Source.objects.create(
        owner=item.owner,
        name=mark,
        start_url=f"javascript:{mark}",
        include=[mark],
        error=mark,
        added_by_agent=mark,
    )
    source.pages.create(
        key=mark, url=f"javascript:{mark}", item=item, state="kept", reason=mark[:40]
    )
    source.pages.create(key=f"gone {mark}", url="https://x.example/", state="failed", error=mark)
    feed = Feed.objects.create(
        owner=item.owner, title=mark, url=f"javascript:{mark}", key=mark, tags=[mark], error=mark
    )
    batch = ImportBatch.objects.create(
        owner=item.owner, format="bookmarks", filename=mark, tags=[mark]
    )
    feed.entries.create(guid_hash="0" * 64, title=mark, url=f"javascript:{mark}", error=mark)
    batch.rows.create(position=0, title=mark, url=f"javascript:{mark}", error=mark)
    Highlight.objects.create(owner=item.owner, item=item, start=0, end=4, quote=mark)
    SavedSearch.objects.create(owner=item.owner, name=mark, query=f"q={mark}")


def _contributed(item: Item, mark: str) -> None:
    skill, unit = (_typed(item, type, mark) for type in ("skill", "expert_sop"))
    Item.objects.filter(pk=skill.pk).update(
        attributes={"name": mark, "domain": mark}, quarantined=True, quality=0.5
    )
    document = {"skill_md": f"# {mark}", "body": mark}
    Version.objects.create(
        item=skill,
        number=1,
        label=mark,
        digest="0" * 64,
        document=document,
        files={mark: {"text": mark}},
        added_by_agent=mark,
    )
    Version.objects.create(item=unit, number=1, digest="1" * 64, document={mark: [mark]})
    part = {"value": 0.5, "weight": 1.0, "share": 0.5, "because": mark}
    Quality.objects.create(
        item=skill,
        profile=mark,
        factors={mark: part},
        intrinsic=0.5,
        validations={mark: mark},
        score=0.5,
    )
    Validation.objects.create(
        item=skill, agent_id=mark, contributor=f"x/{mark}", valid=False, feedback=mark
    )
    finding = {"kind": "injection", "rule": mark, "sentence": mark, "path": mark}
    Item.objects.filter(pk=skill.pk).update(suspicions=[finding])
    AllowedFinding.objects.get_or_create(fingerprint="0" * 64, defaults={"note": HOSTILE})
    Quarantine.objects.create(item=skill, reason="injection", findings=[finding])
    Quarantine.objects.create(item=unit, reason="reports", verdict="upheld", note=mark)
    for agent_id in (mark, f"x/{mark}"):
        Agent.objects.create(agent_id=agent_id, is_trusted=True, score=1, parts={mark: mark})
    Provider.objects.create(
        owner=item.owner,
        agent_id=mark,
        name=mark,
        description=mark,
        endpoint=f"javascript:{mark}",
        capabilities=[mark],
        last_seen_at=timezone.now(),
    )


def _typed(item: Item, type: str, mark: str) -> Item:
    content = Content.objects.create(owner=item.owner, title=f"{type} {mark}", text=mark)
    return Item.objects.create(
        owner=item.owner,
        content=content,
        type=type,
        tags=[mark],
        visibility="network",
        added_by_agent=mark,
    )
