"""Passages that a person marks in an item, and the notes on them.

A note is an item of its own, so that agents find it. It holds the passage too: it still makes
sense when the item that it is about is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, InvalidInput, not_found
from knowledge.ingest.items import rewrite_item
from knowledge.ledger import changes
from knowledge.library.items import visible_item
from knowledge.memory import remembering
from knowledge.memory.remembering import MAX_MEMORY_TITLE, draft_item
from knowledge.models import Colour, Highlight, Item, ItemType, Relation
from knowledge.models.locking import lock_item
from knowledge.models.reading import MAX_QUOTE
from knowledge.moderation import actors, quarantine
from knowledge.text.quotes import nearest_span
from knowledge.validation import clean_text, one_of

MOST_HIGHLIGHTS = 1_000
NOTE_CATEGORY = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Some words of an item's text, and about where they stand."""

    quote: str
    near: int = 0


@dataclass(frozen=True, slots=True)
class PlacedHighlight:
    """A highlight, where its words stand in the text of today, and the words of its note."""

    highlight: Highlight
    span: tuple[int, int] | None
    """None if the text has changed and does not say this any more."""
    note: str


@dataclass(frozen=True, slots=True)
class Marks:
    """All that somebody marked in an item, in the order of its text, and the notes on the whole."""

    highlights: list[PlacedHighlight]
    notes: list[Item]


def highlight_passage(
    access: Access, item_id: UUID, passage: Passage, *, colour: str = Colour.YELLOW
) -> Highlight:
    """Mark a passage of an item; the same passage again answers the mark that is there."""
    access.require(Capability.WRITE)
    one_of(colour, Colour.values, field="colour")
    item = _readable_item(access, item_id)
    start, end, quote = _find_passage(item, passage)
    with transaction.atomic():
        item = visible_item(access, item_id, for_update=True)
        mine = Highlight.objects.visible_to(access).filter(item=item)
        if same := mine.filter(start=start, end=end).first():
            return same
        if mine.count() >= MOST_HIGHLIGHTS:
            raise Conflict(f"An item can have {MOST_HIGHLIGHTS} highlights; remove one first.")
        highlight = Highlight.objects.create(
            owner_id=access.owner_id, item=item, start=start, end=end, quote=quote, colour=colour
        )
        changes.row_added(access, highlight, fields=["item_id", "quote", "note_id"])
    return highlight


def note_passage(
    access: Access, item_id: UUID, passage: Passage, words: str, *, colour: str = Colour.YELLOW
) -> Highlight:
    """Mark a passage and write a note on it."""
    highlight = highlight_passage(access, item_id, passage, colour=colour)
    return write_note(access, highlight.pk, words)


def write_note(access: Access, highlight_id: UUID, words: str) -> Highlight:
    """Write the note on a highlight, or write it anew."""
    access.require(Capability.WRITE)
    highlight = _visible_highlight(access, highlight_id)
    if highlight.note_id and Item.objects.visible_to(access).filter(pk=highlight.note_id).exists():
        _rewrite_note(access, highlight, words)
        return highlight
    note = _remember(access, highlight.item, words, highlight.quote)
    with transaction.atomic():
        highlight = _visible_highlight(access, highlight_id, for_update=True)
        before = changes.as_data(highlight)
        highlight.note = note
        highlight.save(update_fields=["note"])
        changes.row_changed(access, highlight, before)
    return highlight


def note_item(access: Access, item_id: UUID, words: str) -> Item:
    """Write a note on an item as a whole."""
    access.require(Capability.WRITE)
    return _remember(access, visible_item(access, item_id), words, "")


@transaction.atomic
def remove_highlight(access: Access, highlight_id: UUID) -> Highlight:
    """Take a mark away; its note stays, as every item does until it is deleted itself."""
    access.require(Capability.WRITE)
    highlight = _visible_highlight(access, highlight_id, for_update=True)
    changes.row_deleted(access, highlight)
    highlight.delete()
    return highlight


def marks_of(access: Access, item: Item) -> Marks:
    """What is marked in an item that the caller has been shown."""
    access.require(Capability.READ)
    highlights = list(Highlight.objects.visible_to(access).filter(item=item))
    notes = _visible_notes(access, [each.note_id for each in highlights if each.note_id])
    placed = [
        PlacedHighlight(each, _place(each, item.content.text), _words_of(each, notes))
        for each in highlights
    ]
    placed.sort(key=lambda each: (each.span is None, each.span or (0, 0), each.highlight.pk))
    return Marks(placed, _notes_on_whole(access, item, list(notes)))


def _place(highlight: Highlight, text: str) -> tuple[int, int] | None:
    """Where its words stand now: as a rule where they did."""
    span = highlight.start, highlight.end
    if text[slice(*span)].split() == highlight.quote.split():
        return span
    return nearest_span(highlight.quote, text, near=highlight.start)


def _find_passage(item: Item, passage: Passage) -> tuple[int, int, str]:
    quote = clean_text(
        " ".join(passage.quote.split()), field="quote", shortest=1, longest=MAX_QUOTE
    )
    span = nearest_span(quote, item.content.text, near=passage.near)
    if span is None:
        raise InvalidInput("The text does not say this; select the passage again.", field="quote")
    return *span, quote


def _readable_item(access: Access, item_id: UUID) -> Item:
    item = visible_item(access, item_id)
    if not item.content.is_ready:
        raise Conflict("The item's text is not there yet; mark it when it is ready.")
    return item


def _visible_highlight(
    access: Access, highlight_id: UUID, *, for_update: bool = False
) -> Highlight:
    highlights = Highlight.objects.visible_to(access).select_related("item__content")
    if for_update:
        highlights = highlights.select_for_update(of=("self",))
    highlight = highlights.filter(pk=highlight_id).first()
    if highlight is None:
        raise not_found("highlight")
    return highlight


# Notes ----------------------------------------------------------------------------------------


def _remember(access: Access, item: Item, words: str, quote: str) -> Item:
    return remembering.add(
        access,
        title=_note_title(item),
        content=_note_text(words, quote),
        entity_type=ItemType.EPISODE,
        category=NOTE_CATEGORY,
        related_to=[str(item.pk)],
    ).item


def _rewrite_note(access: Access, highlight: Highlight, words: str) -> None:
    text = _note_text(words, highlight.quote)
    title = _note_title(highlight.item)
    draft = draft_item(title=title, text=text, type=ItemType.EPISODE, attributes={}, field="note")
    with transaction.atomic():
        note = lock_item(Item.objects.visible_to(access), highlight.note_id or highlight.pk)
        if note is None:
            raise not_found("note")
        rewrite_item(access, note, title=note.content.title, text=text, prepared=draft.ready)
        quarantine.suspect(access, note, draft.screening.orders, reworded={"note", "content"})
        actors.screen_the_rest(note, draft.screening)


def _note_title(item: Item) -> str:
    title = f"Note on {item.title or 'an item'}"
    return title if len(title) <= MAX_MEMORY_TITLE else f"{title[: MAX_MEMORY_TITLE - 1]}…"


def _note_text(words: str, quote: str) -> str:
    words = clean_text(words.strip(), field="note", shortest=1, longest=remembering.MAX_CONTENT)
    return f"{words}{_quotation(quote)}"


def _quotation(quote: str) -> str:
    return f"\n\n> {quote}" if quote else ""


def _visible_notes(access: Access, note_ids: Sequence[UUID]) -> dict[UUID, Item]:
    notes = Item.objects.visible_to(access).select_related("content")
    return notes.in_bulk(note_ids)


def _words_of(highlight: Highlight, notes: dict[UUID, Item]) -> str:
    """A note without the passage that it ends with."""
    note = notes.get(highlight.note_id) if highlight.note_id else None
    return note.content.text.removesuffix(_quotation(highlight.quote)) if note else ""


def _notes_on_whole(access: Access, item: Item, shown: Sequence[UUID]) -> list[Item]:
    """Notes that are related to the item and to no passage of it, oldest first."""
    relations = Relation.objects.visible_to(access).in_force().filter(target=item)
    notes = Item.objects.visible_to(access).filter(
        Q(pk__in=relations.values("source")),
        type=ItemType.EPISODE,
        attributes__contains={"category": NOTE_CATEGORY},
        archived=False,
    )
    return list(notes.exclude(pk__in=shown).select_related("content").order_by("created_at"))
