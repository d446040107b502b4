"""Stores a draft as an item's first or next version, and scores it."""

from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from knowledge.access import Access
from knowledge.errors import Conflict
from knowledge.indexing import preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest.items import ItemOptions, create_text_item, rewrite_item
from knowledge.ledger import changes
from knowledge.models import (
    UNIT_TYPES,
    Item,
    ItemType,
    Quality,
    Version,
    Visibility,
)
from knowledge.models.locking import lock_item
from knowledge.moderation import actors, quarantine
from knowledge.moderation.findings import ScreeningResult, each_once
from knowledge.registry import publishing
from knowledge.registry.bundles import Stored
from knowledge.registry.published_items import WithItem
from knowledge.registry.publishing import current_version
from knowledge.trust.novelty import Novelty, novelty_of_text
from knowledge.trust.scoring import score_item


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A contribution that is well-formed, before anything is known of what is there."""

    type: ItemType
    key: dict[str, str]
    """The attributes by which its owner's earlier version is known."""
    shared_key: bool
    """Whether nobody else who is seen may have the same key."""
    title: str
    text: str
    label: str
    tags: tuple[str, ...]
    attributes: dict[str, Any]
    document: dict[str, Any]
    digest: str
    visibility: Visibility | None
    """What was asked for, if anything."""
    said_visibility: Visibility | None
    """What the document itself says, which only a new item heeds in full."""
    unless_told: Visibility = Visibility.NETWORK
    """For whom a new item is where neither says so."""
    files: Stored = field(default_factory=dict)
    found: ScreeningResult = field(default_factory=ScreeningResult)


@dataclass(frozen=True, slots=True)
class Original:
    """What somebody else has shared already, and a contribution is a copy of."""

    id: UUID
    contributor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionAnswer(WithItem):
    """What became of a contribution."""

    item: Item
    version: Version
    quality: Quality | None
    findings: list[dict[str, Any]]
    is_new: bool
    """Whether it made a version: the same again does not."""
    brought_back: bool = False
    """Whether it was archived until now."""
    copy_of: Original | None = None

    @property
    def factors(self) -> dict[str, Any]:
        return self.quality.factors if self.quality else {}


def contribute(access: Access, draft: Draft) -> ContributionAnswer:
    """All of it or nothing; the slow work is done before any row is held."""
    known = _find_item(access, draft)
    if known and (there := _answer_if_unchanged(known, draft)):
        return replace(there, copy_of=_original(access, draft))
    ready = preparing.prepare(draft.text, draft.title)
    novelty = _novelty(access, draft, known, ready)
    original = _original(access, draft, novelty)
    with transaction.atomic():
        # Two that contribute at once make two versions.
        publishing.lock_key(draft.key, whose=None if draft.shared_key else access.owner_id)
        known = _lock_item(access, draft)
        if known is None:
            return replace(_first(access, draft, ready, novelty), copy_of=original)
        was_archived = known.archived
        made = _answer_if_unchanged(known, draft) or _next(access, known, draft, ready, novelty)
        return replace(made, brought_back=was_archived, copy_of=original)


def _original(access: Access, draft: Draft, novelty: Novelty | None = None) -> Original | None:
    """The first of what others share with the caller that says the same."""
    others = Item.objects.published_to(access).exclude(owner_id=access.owner_id)
    same = Q(attributes__contains={"digest": draft.digest}) | Q(
        pk__in=novelty.same if novelty else ()
    )
    first = others.filter(same, type=draft.type).order_by("created_at", "pk").first()
    if first is None:
        return None
    return Original(first.pk, first.added_by_agent or first.owner.get_username())


def _find_item(access: Access, draft: Draft) -> Item | None:
    """The item that gets the new version: one that the caller may change."""
    types = UNIT_TYPES if draft.type in UNIT_TYPES else (draft.type,)
    same = Q(type__in=types, attributes__contains=draft.key)
    own = Item.objects.visible_to(access).filter(same).order_by("created_at", "pk").first()
    if draft.shared_key and (own is None or publishing.widens(own, _visibility_of(draft, own))):
        publishing.refuse_taken(access, draft.key, besides_own=own is not None, field="unit.id")
    if own and own.type != draft.type:
        raise Conflict(
            f"Your unit of this id is of another type ({own.type}); give this one another id.",
            field="unit.id",
            reason="other_type",
        )
    return own


def _lock_item(access: Access, draft: Draft) -> Item | None:
    """The same, locked."""
    known = _find_item(access, draft)
    return lock_item(Item.objects.visible_to(access), known.pk) if known else None


def _answer_if_unchanged(item: Item, draft: Draft) -> ContributionAnswer | None:
    """The answer, if nothing would change: the same content is there for the same readers."""
    is_shown = draft.visibility in (None, item.visibility) and not item.archived
    current = current_version(item)
    if not is_shown or current is None or current.digest != draft.digest:
        return None
    return _answer(item, current, draft)


def _answer(item: Item, version: Version, draft: Draft) -> ContributionAnswer:
    """With the score that is there: the same content again makes no version and no score."""
    quality = Quality.objects.filter(item=item).first()
    return ContributionAnswer(
        item=item, version=version, quality=quality, findings=draft.found.orders, is_new=False
    )


def _novelty(access: Access, draft: Draft, known: Item | None, ready: Prepared) -> Novelty:
    return novelty_of_text(
        access.owner_id,
        title=draft.title,
        text=draft.text,
        visibility=_visibility_of(draft, known),
        before=known.arrived_at if known else None,
        leave_out={known.pk} if known else (),
        pieces=ready.pieces,
    )


def _visibility_of(draft: Draft, known: Item | None) -> Visibility:
    """What was asked for; without that, a new version is never seen by more than the last."""
    if draft.visibility is not None:
        return draft.visibility
    if known is None:
        return draft.said_visibility or draft.unless_told
    current = Visibility(known.visibility)
    return min(current, draft.said_visibility or current, key=publishing.WIDTH.index)


def _first(access: Access, draft: Draft, ready: Prepared, novelty: Novelty) -> ContributionAnswer:
    options = ItemOptions(
        title=draft.title,
        tags=draft.tags,
        type=draft.type,
        attributes={**draft.attributes, "digest": draft.digest},
        visibility=_visibility_of(draft, None),
    )
    item = create_text_item(access, draft.text, options, ready)
    return _create_version(access, item, draft, novelty)


def _next(
    access: Access, item: Item, draft: Draft, ready: Prepared, novelty: Novelty
) -> ContributionAnswer:
    before = changes.values_of(item, ("tags", "attributes", "visibility", "archived"))
    current = current_version(item)
    is_wider = publishing.widens(item, _visibility_of(draft, item))
    item.visibility, item.archived = _visibility_of(draft, item), False
    if current is None or current.digest != draft.digest:
        item.tags = list(draft.tags)
        item.attributes = {**draft.attributes, "digest": draft.digest}
    item.save(update_fields=[*before, "updated_at"])
    changes.item_changed(access, item, before)
    is_same = current is not None and current.digest == draft.digest
    if is_wider:
        draft = _with_known_findings(access, item, draft, is_same=is_same)
    if current is not None and is_same:
        return _answer(item, current, draft)
    rewrite_item(access, item, title=draft.title, text=draft.text, prepared=ready)
    return _create_version(access, item, draft, novelty)


def _with_known_findings(access: Access, item: Item, draft: Draft, *, is_same: bool) -> Draft:
    """The draft with what is found beside it; of the same version, with what is known of it."""
    beside = publishing.with_those_known if is_same else publishing.with_those_beside
    findings = beside(item, draft.found.orders)
    if is_same and findings:
        quarantine.suspect(access, item, findings)
    return replace(
        draft, found=replace(draft.found, orders=each_once([*draft.found.orders, *findings]))
    )


def _create_version(
    access: Access, item: Item, draft: Draft, novelty: Novelty
) -> ContributionAnswer:
    quarantine.suspect(access, item, draft.found.orders)
    actors.screen_the_rest(item, draft.found)
    findings = [*draft.found.orders, *quarantine.quarantine_again(access, item, [draft.digest])]
    latest = current_version(item)
    version = Version.objects.create(
        item=item,
        number=latest.number + 1 if latest else 1,
        label=draft.label,
        digest=draft.digest,
        document=draft.document,
        files=draft.files,
        # Others never read what is suspected, also when a later version has set the item free.
        visibility=Visibility.PRIVATE if findings else item.visibility,
        added_by_agent=access.agent_id,
    )
    changes.row_added(access, version, fields=changes.VERSION_FIELDS)
    quality = score_item(item, novelty=novelty)
    return ContributionAnswer(
        item=item, version=version, quality=quality, findings=findings, is_new=True
    )
