from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Case, Exists, F, Func, OuterRef, Prefetch, Q, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Now

from knowledge.access import Access
from knowledge.models.content import Content, ContentState
from knowledge.models.folder import Folder

if TYPE_CHECKING:
    from knowledge.models.relation import Relation
    from knowledge.models.transform import Transform


class ItemType(models.TextChoices):
    DOCUMENT = "document"
    PATTERN = "pattern"
    RULE = "rule"
    TEMPLATE = "template"
    TOPIC = "topic"
    EPISODE = "episode"
    TASK = "task"
    PROJECT = "project"
    SKILL = "skill"
    REASONING_TRACE = "reasoning_trace"
    TOOL_CALL_PATTERN = "tool_call_pattern"
    EXPERT_SOP = "expert_sop"


MEMORY_TYPES = (
    *(ItemType.PATTERN, ItemType.RULE, ItemType.TEMPLATE, ItemType.TOPIC),
    *(ItemType.EPISODE, ItemType.TASK, ItemType.PROJECT),
)
UNIT_TYPES = (ItemType.REASONING_TRACE, ItemType.TOOL_CALL_PATTERN, ItemType.EXPERT_SOP)
REGISTRY_TYPES = (ItemType.SKILL, *UNIT_TYPES)


class Visibility(models.TextChoices):
    PRIVATE = "private"
    ORG = "org"
    NETWORK = "network"


class IndexStatus(models.TextChoices):
    NONE = "none"  # not in the knowledge base
    PENDING = "pending"
    KEYWORD = "keyword"  # found by word; meaning follows when its job is done
    DONE = "done"
    FAILED = "failed"


def _sharing_condition(access: Access) -> Q:
    """What its owner offers to everybody, or to an organization that this caller is of too."""
    members = Group.user_set.through.objects.filter(group__user=access.owner_id)
    colleagues = Q(visibility=Visibility.ORG, owner__in=members.values("user_id"))
    return Q(visibility=Visibility.NETWORK) | colleagues


def rules_of(suspicions: Iterable[Mapping[str, Any]]) -> list[str]:
    """The rules that found something, each once."""
    return list(dict.fromkeys(finding["rule"] for finding in suspicions))


class ItemQuerySet(models.QuerySet["Item"]):
    def visible_to(self, access: Access) -> Self:
        """Only rows this caller may know exist."""
        items = self.filter(owner_id=access.owner_id)
        if access.kb_only:
            items = items.filter(in_kb=True)
        if access.folder_ids is None:
            return items
        if not access.folder_ids:
            return items.none()
        # By ids and not by a condition on each row: a narrow scope in a large library is
        # found from its filings, without a look at every item.
        seen = Filing.objects.filter(folder__in=access.folder_ids).values("item")
        if access.token_id is not None:
            own_unfiled = Item.objects.filter(unfiled_by=access.token_id).values("pk")
            seen = seen.union(own_unfiled, all=True)
        return items.filter(pk__in=seen)

    def published_to(self, access: Access) -> Self:
        """Skills and knowledge units this caller may read, whoever's they are.

        Its own reach, and of others what they share with its organizations or the network, as
        long as no admin has to look at it.
        """
        others = Q(_sharing_condition(access), archived=False, quarantined=False)
        own = Q(pk__in=Item.objects.visible_to(access).values("pk"))
        items = self.filter(own | others, type__in=REGISTRY_TYPES)
        return items.filter(in_kb=True) if access.kb_only else items

    def offered_to(self, access: Access) -> Self:
        """Skills and units shared with this caller, archived and quarantined ones included: their
        ids stay taken, so that reporting an item does not free its id.
        """
        return self.filter(_sharing_condition(access), type__in=REGISTRY_TYPES)

    def searchable(self, access: Access, *, finds_archived: bool = False) -> Self:
        """The items that a search may find: not archived, not superseded.

        A search for archived tasks finds only those of the archived. Quarantine hides items only
        from others, in `published_to`.
        """
        shown = Q(archived=False)
        if finds_archived:
            shown |= Q(attributes__contains={"status": "archived"})
        found = self.filter(shown, in_kb=True)
        # Not by ids: the planner would count the list of them anew for every item.
        return found.exclude(Exists(targets_of_supersedes(access).filter(target=OuterRef("pk"))))

    def hidden_from_search(self, access: Access) -> Self:
        """What no search finds of these, though it is indexed.

        Each part by an index of its own: asked for all at once, every item would be looked at.
        """
        indexed = self.filter(in_kb=True)
        superseded = indexed.filter(pk__in=targets_of_supersedes(access))
        return indexed.filter(archived=True).union(superseded)

    def with_folders_for(self, access: Access) -> Self:
        """Load, beside each item, the folders this caller may know it is in."""
        filings = Filing.objects.visible_to(access)
        return self.prefetch_related(Prefetch("filings", queryset=filings, to_attr="seen_filings"))

    def with_attributes_for(self, access: Access) -> Self:
        """Load, beside each item, what it says of itself, but for a project out of reach."""
        named = Cast(KeyTextTransform("project", OuterRef("attributes")), models.UUIDField())
        project = Item.objects.visible_to(access).filter(pk=named)
        names_one = Q(type__in=MEMORY_TYPES, attributes__has_key="project")
        without = Func(F("attributes"), template="(%(expressions)s - 'project')")
        told = Case(
            When(~names_one, then=F("attributes")),
            When(Exists(project), then=F("attributes")),
            default=without,
            output_field=models.JSONField(),
        )
        return self.annotate(told_attributes=told)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-pk")

    def older_than(self, created_at: datetime, item_id: UUID) -> Self:
        """What follows that item, itself still there or not, in `newest_first`."""
        same_moment = models.Q(created_at=created_at, pk__lt=item_id)
        older = self.filter(created_at__lte=created_at)  # which the index can begin at
        return older.filter(models.Q(created_at__lt=created_at) | same_moment)

    def with_title_prefix(self, beginning: str) -> Self:
        """Items whose shown title begins like this, in any case."""
        own = models.Q(custom_title__istartswith=beginning)
        return self.filter(own | models.Q(custom_title="", content__title__istartswith=beginning))


class Item(models.Model):
    """One owner's copy of a content: how they file, tag and search it."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="items"
    )
    content = models.ForeignKey(Content, on_delete=models.RESTRICT, related_name="items")
    folders: models.ManyToManyField[Folder, Filing] = models.ManyToManyField(
        Folder, through="Filing", related_name="items"
    )
    type = models.CharField(max_length=30, choices=ItemType, default=ItemType.DOCUMENT)
    custom_title = models.CharField(max_length=500, blank=True)
    in_kb = models.BooleanField("in the knowledge base", default=True)
    tags = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    attributes = models.JSONField(default=dict, blank=True)
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PRIVATE)
    quality = models.FloatField(null=True, blank=True)
    archived = models.BooleanField(default=False)
    quarantined = models.BooleanField(
        default=False,
        help_text="Held back from everybody but its owner until an admin has ruled.",
    )
    suspicions = models.JSONField(
        default=list,
        blank=True,
        editable=False,
        help_text="What the screening found in it as it is now; its owner is told.",
    )
    half_screened = models.BooleanField(
        default=False,
        editable=False,
        help_text="Only its beginning and its end were screened; a job reads the rest.",
    )
    index_status = models.CharField(max_length=10, choices=IndexStatus, default=IndexStatus.NONE)
    index_error = models.TextField(blank=True)
    chunk_count = models.PositiveIntegerField(default=0, editable=False)
    word_count = models.PositiveIntegerField(default=0, editable=False)
    index_version = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="The pipeline's version that indexed this."
    )
    added_by_token = models.UUIDField(null=True, blank=True, editable=False)
    added_by_agent = models.CharField(max_length=200, blank=True, editable=False)
    unfiled_by = models.UUIDField(
        null=True,
        blank=True,
        editable=False,
        help_text="The token that added this, while nobody has filed it: that token sees it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    arrived_at = models.DateTimeField(
        db_default=Now(),
        editable=False,
        help_text="When it came to this server; an archive tells created_at, and never this.",
    )
    updated_at = models.DateTimeField(auto_now=True)

    objects = ItemQuerySet.as_manager()

    seen_filings: list[Filing]
    told_attributes: dict[str, Any]

    class Meta:
        indexes = [
            models.Index(fields=["owner", "-created_at", "-id"], name="item_newest_by_owner"),
            GinIndex(fields=["tags"], name="item_tags"),
            models.Index(
                fields=["updated_at"],
                condition=models.Q(index_status__in=["pending", "keyword"]),
                name="item_half_indexed",
            ),
            models.Index(
                fields=["unfiled_by"],
                condition=models.Q(unfiled_by__isnull=False),
                name="item_unfiled_by",
            ),
            models.Index(
                fields=["owner"],
                condition=models.Q(archived=True, in_kb=True),
                name="item_archived_by_owner",
            ),
            models.Index(
                fields=["updated_at"],
                condition=models.Q(half_screened=True),
                name="item_half_screened",
            ),
            models.Index(fields=["owner", "type", "-created_at"], name="item_type_by_owner"),
            models.Index(
                fields=["type", "visibility"],
                condition=~models.Q(visibility="private"),
                name="item_published",
            ),
            GinIndex(fields=["attributes"], name="item_attributes", opclasses=["jsonb_path_ops"]),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        return self.custom_title or self.content.title

    @property
    def suspected(self) -> list[str]:
        """The rules that screening found in the item, each once; empty if it is clean."""
        return rules_of(self.suspicions)

    @property
    def source_url(self) -> str | None:
        return self.content.url or None

    @property
    def folder_ids(self) -> list[UUID]:
        """Folders the caller may know of; only on rows loaded by `with_folders_for`."""
        return sorted(filing.folder_id for filing in self.seen_filings)

    @property
    def status(self) -> str:
        """`ready` or `failed`; until then `transcribing`, or `processing` for a document."""
        if self.content.state in (ContentState.READY, ContentState.FAILED):
            return str(self.content.state)
        return "transcribing" if self.content.is_recording else "processing"

    @property
    def summary(self) -> Transform | None:
        """What it was summed up to, if anybody asked."""
        return getattr(self, "transform", None)


def targets_of_supersedes(access: Access) -> models.QuerySet[Relation, Any]:
    """Items that are superseded by another item that this caller sees."""
    # Imported here: a relation is between two items, and knows them.
    from knowledge.models.relation import Relation, RelationType

    successors = Item.objects.visible_to(access).filter(archived=False)
    return (
        Relation.objects.in_force()
        .filter(
            owner_id=access.owner_id,
            type=RelationType.SUPERSEDES,
            source__in=successors.values("pk"),
        )
        .values("target")
    )


class FilingQuerySet(models.QuerySet["Filing"]):
    def visible_to(self, access: Access) -> Self:
        """Only filings in folders this caller may know exist."""
        filings = self.filter(folder__owner_id=access.owner_id)
        if access.folder_ids is None:
            return filings
        return filings.filter(folder__in=access.folder_ids)


class Filing(models.Model):
    """An item in a folder."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="filings")
    folder = models.ForeignKey(Folder, on_delete=models.CASCADE, related_name="filings")
    filed_at = models.DateTimeField(auto_now_add=True)

    objects = FilingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["folder", "item"], name="filed_once_per_folder")
        ]

    def __str__(self) -> str:
        return f"{self.item_id} in {self.folder_id}"
