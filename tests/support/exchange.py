"""A library with something of everything, and archives to take apart and put together."""

import io
import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from knowledge.access import Access
from knowledge.exchange.exporting import export_library
from knowledge.exchange.importing import ImportReport, import_library
from knowledge.ingest import adding
from knowledge.ingest.items import ItemOptions, create_item
from knowledge.library import items as library
from knowledge.library.editing import ItemChanges, update_item
from knowledge.models import (
    Chunk,
    Content,
    Feed,
    Folder,
    Item,
    LibrarySize,
    Link,
    Source,
    Transform,
)

PAGE = "https://rivers.example/stone"
TALK = "Ada: Granite is hard. Slate splits along its planes, said the quarryman."
MEMBERS = ("manifest.json", "folders.jsonl", "contents.jsonl", "items.jsonl")

Lines = list[dict[str, Any]]


def fill(access: Access) -> dict[str, Item]:
    """Notes, a shared page, a talk with its summary, what failed and what is on its way."""
    research = library.create_folder(access, "Research/2024")
    reading = library.create_folder(access, "Lesestoff für später")
    library.create_folder(access, "Empty")
    note = adding.add_text(
        access,
        title="=HYPERLINK(1)",
        text="# Harbour\n\nThe harbour keeps its lights on.\n\n## Ships\n\nThey come home." * 40,
        tags=["sea", "-1+1"],
    )
    library.file_item(access, note.pk, [research.pk, reading.pk])
    changes = ItemChanges(title="../../Harbour at night: 夜の港", archived=True)
    update_item(access, note.pk, changes)
    Item.objects.filter(pk=note.pk).update(
        attributes={"status": "draft", "weights": [1, 2.5, None], "nested": {"ü": "\u2028"}}
    )
    page = add_content(access, shared_page(), ItemOptions(title="My rivers"))
    library.file_item(access, page.pk, [reading.pk])
    return {
        "note": note,
        "page": page,
        "talk": _talk(access),
        "outside": adding.add_text(
            access, title="Outside", text="Kept out of the index, but kept.", in_kb=False
        ),
        "failed": add_content(access, _unread(access, "failed", "blocked"), ItemOptions()),
        "coming": add_content(access, _unread(access, "queued", ""), ItemOptions()),
    }


def shared_page(
    text: str = "Rivers carve stone by carrying sediment, which does the work.",
) -> Content:
    content = Content.objects.create(
        kind="webpage",
        canonical_url=PAGE,
        url=PAGE,
        title="How rivers carve stone",
        author="Ada Fielding",
        language="en",
        published_at=datetime(2024, 3, 5, 9, 0, tzinfo=UTC),
        text=text,
    )
    Link.objects.create(key=PAGE, content=content)
    return content


def add_content(access: Access, content: Content, options: ItemOptions) -> Item:
    return create_item(access, content, options, None)


def _talk(access: Access) -> Item:
    content = Content.objects.create(
        owner_id=access.owner_id,
        kind="podcast",
        url="https://talks.example/1",
        media_url="https://talks.example/1.mp3",
        title="Stone Talk",
        language="en",
        duration_sec=93.5,
        text=TALK,
        locators=[
            {"start": 5, "end": 21, "start_sec": 0, "end_sec": 2.25, "speaker": "Ada"},
            {"start": 22, "end": len(TALK), "start_sec": 2.25, "end_sec": 93.5},
        ],
        transcription_status="done",
        rung="captions",
        cost_usd=Decimal("0.0120"),
    )
    item = add_content(access, content, ItemOptions())
    Transform.objects.create(
        item=item,
        state="done",
        tldr="Stones differ.",
        key_points=["Granite is hard."],
        quotes=[{"text": "Granite is hard.", "locator": {"char_span": [5, 21], "start_sec": 0}}],
        model="fake",
        cost_usd=Decimal("0.0001"),
    )
    return item


def _unread(access: Access, state: str, reason: str) -> Content:
    return Content.objects.create(
        owner_id=access.owner_id,
        kind="pdf",
        title=f"A {state} file",
        text="",
        state=state,
        reason=reason,
        error=reason and "It is blocked.",
    )


def exported(access: Access) -> bytes:
    return b"".join(export_library(access))


def imported(access: Access, archive: bytes) -> ImportReport:
    return import_library(access, io.BytesIO(archive))


def wipe(access: Access, *, shared: bool = True) -> None:
    """An empty library, on a server where nobody has its contents but, perhaps, the shared ones."""
    owner_id = access.owner_id
    Chunk.objects.filter(owner_id=owner_id).delete()
    Item.objects.filter(owner_id=owner_id).delete()
    Content.objects.filter(owner_id=owner_id).delete()
    Source.objects.filter(owner_id=owner_id).delete()
    Feed.objects.filter(owner_id=owner_id).delete()
    Folder.objects.filter(owner_id=owner_id).delete()
    LibrarySize.objects.filter(owner_id=owner_id).delete()
    if shared:
        Content.objects.filter(owner_id=None, items=None).delete()


def members(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def lines(archive: bytes, name: str) -> Lines:
    return [json.loads(line) for line in members(archive)[name].splitlines()]


def rezipped(parts: dict[str, bytes]) -> bytes:
    """As any other program would put the members together again."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def with_lines(archive: bytes, name: str, change: Callable[[Lines], Lines | None]) -> bytes:
    """The archive with other lines in one member."""
    found = lines(archive, name)
    found = change(found) or found
    data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in found).encode()
    return rezipped({**members(archive), name: data})


def state_of(access: Access) -> dict[str, Any]:
    """All that an import should bring back, chunks included."""
    items = Item.objects.filter(owner_id=access.owner_id).order_by("created_at", "pk")
    own = ("type", "custom_title", "in_kb", "tags", "attributes", "visibility", "archived")
    text = ("kind", "url", "title", "author", "language", "published_at", "text", "rung")
    return {
        str(item.pk): {
            **{name: getattr(item, name) for name in (*own, "created_at", "chunk_count")},
            **{f"content.{name}": getattr(item.content, name) for name in text},
            "locators": item.content.locators,
            "folders": sorted(item.filings.values_list("folder__name", "filed_at")),
            "chunks": list(
                Chunk.objects.filter(item=item)
                .order_by("position")
                .values_list("position", "start", "end", "heading_path", "text", "locator")
            ),
        }
        for item in items.select_related("content")
    }
