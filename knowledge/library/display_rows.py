"""What is asked for most often, an item and the folders, read without the ORM.

Django takes longer to write these queries than Postgres to answer them, so they are written once
for each kind of caller.
"""

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model

from knowledge.access import Access
from knowledge.models import Content, Filing, Folder, Item, Transform
from knowledge.retrieval import visibility_sql
from knowledge.retrieval.binary_cursor import fetch
from knowledge.retrieval.visibility_sql import columns_of

M = TypeVar("M", bound=Model)


def find_shown_item(access: Access, item_id: UUID) -> Item | None:
    """The item with its content, its summary, and the folders that the caller may know of."""
    items, params = visibility_sql.shown_items_sql(access)
    filings, filing_params = visibility_sql.filings(access)
    statement = _ITEM.format(items=items, filings=filings)
    rows = fetch(statement, {**params, **filing_params, "wanted": item_id})
    return _item_of(rows[0]) if rows else None


_ITEM = """
    SELECT item.*, ARRAY(
        SELECT folder_id FROM ({filings}) AS filing WHERE filing.item_id = item.id
    ) AS folder_ids
    FROM ({items}) AS item WHERE item.id = %(wanted)s"""


def read_folders(access: Access) -> list[Folder]:
    """The folders by name, with what the caller sees in each."""
    folders, params = visibility_sql.counted_folders_sql(access)
    rows = fetch(_FOLDERS.format(folders=folders), params)
    return [_folder_of(row) for row in rows]


_FOLDERS = "SELECT folder.* FROM ({folders}) AS folder ORDER BY lower(folder.name)"


def _item_of(row: Mapping[str, Any]) -> Item:
    item = _from_row(Item, row)
    item.content = _from_row(Content, row, "content__")
    has_summary = row["transform__id"] is not None
    item._state.fields_cache["transform"] = (
        _from_row(Transform, row, "transform__") if has_summary else None
    )
    item.told_attributes = row["told_attributes"]
    item.seen_filings = [Filing(item_id=item.pk, folder_id=each) for each in row["folder_ids"]]
    return item


def _folder_of(row: Mapping[str, Any]) -> Folder:
    folder: Any = _from_row(Folder, row)
    folder.item_count, folder.last_added_at = row["item_count"], row["last_added_at"]
    return folder  # type: ignore[no-any-return]


def _from_row(model: type[M], row: Mapping[str, Any], prefix: str = "") -> M:
    names = columns_of(model)
    return model.from_db("default", names, [row[prefix + name] for name in names])
