"""Putting things in: what a caller adds, where it is filed, and when it can be found."""

import base64
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn
from uuid import UUID

from django.db import transaction

from knowledge import generations, pipeline, tasks
from knowledge.access import Access, Capability
from knowledge.chunking import Piece, chunk
from knowledge.errors import ForbiddenBinary, IngestFailed, InvalidInput
from knowledge.generations import EmbeddedPieces
from knowledge.languages import language_of
from knowledge.models import Content, Filing, Folder, IndexStatus, Item
from knowledge.validation import clean_line, clean_tags, clean_text, one_of

KINDS = ("text", "url")
MIN_TEXT = 20
MAX_TEXT = 500_000
MAX_TITLE = 500
_UPLOAD_INSTEAD = "Upload files by the REST routes /api/v1/uploads/*."
_NO_TRANSFORMER = "provider_unavailable: no model for transforms is configured; the item is ready."
_DATA_URL = re.compile(r"data:[^,\s]*;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


@dataclass(frozen=True, slots=True)
class Added:
    """What became of an addition: the item, where it was filed, and why it has no transform."""

    item: Item
    folder_id: UUID | None
    transform_error: str | None


def add_to_knowledge(
    access: Access,
    *,
    kind: str,
    text: str | None = None,
    title: str | None = None,
    url: str | None = None,
    in_kb: bool = True,
    auto_transform: bool = False,
    tags: Collection[str] = (),
) -> Added:
    """Add what the caller sent, by its kind."""
    access.require(Capability.WRITE)
    if kind == "file":
        raise ForbiddenBinary(f"Files are not taken here. {_UPLOAD_INSTEAD}")
    one_of(kind, KINDS, field="kind")
    if kind == "url":
        _refuse_url(url)
    item = add_text(
        access, title=_given(title, "title"), text=_given(text, "text"), in_kb=in_kb, tags=tags
    )
    return Added(item, access.filing_folder_id, _NO_TRANSFORMER if auto_transform else None)


def add_text(
    access: Access, *, title: str, text: str, in_kb: bool = True, tags: Collection[str] = ()
) -> Item:
    """Add a text: whole or not at all, found by word at once and by meaning soon after."""
    access.require(Capability.WRITE)
    title = clean_line(title, field="title", longest=MAX_TITLE)
    text = clean_text(text, field="text", shortest=MIN_TEXT, longest=MAX_TEXT)
    _refuse_blob(text)
    tags = clean_tags(tags)
    in_kb = in_kb or access.kb_only
    language = language_of(text)
    ready = prepare(text, title) if in_kb else None
    with transaction.atomic():
        content = Content.objects.create(
            owner_id=access.owner_id,
            kind="text",
            title=title,
            text=text,
            language=language,
        )
        item = Item.objects.create(
            owner_id=access.owner_id,
            content=content,
            in_kb=in_kb,
            tags=tags,
            added_by_token=access.token_id,
            added_by_agent=access.agent_id,
            unfiled_by=None if access.filing_folder_id else access.token_id,
        )
        _auto_file(access, item)
        if ready:
            index(item, ready)
    return item


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text cut into pieces and, when they are few, embedded: all the slow work of indexing."""

    pieces: list[Piece]
    embedded: EmbeddedPieces | None


def prepare(text: str, title: str) -> Prepared:
    """Do the slow work before any row is held."""
    pieces = chunk(text)
    return Prepared(pieces, generations.embed_inline(title, pieces))


def cut(text: str) -> Prepared:
    """Only cut, and leave all embedding to a job."""
    return Prepared(chunk(text), None)


def index(item: Item, ready: Prepared) -> None:
    """Index within the caller's transaction; the job for what is left commits with it."""
    pipeline.index_item(item, ready.pieces, ready.embedded)
    if item.index_status == IndexStatus.KEYWORD:
        tasks.embed_item.send(str(item.pk))


def _auto_file(access: Access, item: Item) -> None:
    if access.filing_folder_id is None:
        return
    # The folder may be deleted at this very moment: then there is no scope left to add to.
    folder = Folder.objects.select_for_update().visible_to(access).get(pk=access.filing_folder_id)
    Filing.objects.create(item=item, folder=folder)


def _given(value: str | None, field: str) -> str:
    if value is None:
        raise InvalidInput(f'{field} is required when kind is "text".', field=field)
    return value


def _refuse_url(url: str | None) -> NoReturn:
    if not url:
        raise InvalidInput('url is required when kind is "url".', field="url")
    if url.lower().lstrip().startswith("data:"):
        raise ForbiddenBinary(f"data: URLs are not taken. {_UPLOAD_INSTEAD}")
    raise IngestFailed(
        "This server does not take links yet; send the page's text with kind text.",
        reason="links_not_supported",
    )


def _refuse_blob(text: str) -> None:
    """Refuse bytes in the guise of text: nobody could ever find them again."""
    start = text[:4096].strip()
    if _DATA_URL.match(start) or _is_base64_of_bytes(start):
        raise ForbiddenBinary(f"Encoded files are not taken as text. {_UPLOAD_INSTEAD}")


def _is_base64_of_bytes(start: str) -> bool:
    if " " in start:
        return False
    body = "".join(start.split())
    if len(body) < 200 or not _BASE64.fullmatch(body):
        return False
    if body.islower() or body.isupper():
        return False  # hexadecimal digits, such as a list of digests
    try:
        base64.b64decode(body[: len(body) // 4 * 4]).decode()
    except UnicodeDecodeError as error:
        return error.end < 100  # a cut at the very end may split a character
    except ValueError:
        return False
    return False
