"""Searches that a person keeps under a name."""

from urllib.parse import parse_qsl, urlencode
from uuid import UUID, uuid4

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, InvalidInput, not_found
from knowledge.ledger import changes
from knowledge.models import SavedSearch
from knowledge.models.locking import lock_counted_rows
from knowledge.models.naming import refuse_taken_name
from knowledge.validation import clean_line, clean_text

MOST_SEARCHES = 100
MAX_NAME = 100
MAX_QUERY_STRING = 2_000


def save_search(access: Access, name: str, query: str, *, pk: UUID | None = None) -> SavedSearch:
    """Keep a search as it stands in the library's address."""
    access.require(Capability.WRITE)
    access.require_whole_library()
    name = clean_line(name, field="name", longest=MAX_NAME)
    query = _clean_query(query)
    with refuse_taken_name("saved search", hint="choose another"):
        lock_counted_rows(access.owner_id)
        if SavedSearch.objects.visible_to(access).count() >= MOST_SEARCHES:
            raise Conflict(f"There are {MOST_SEARCHES} saved searches already; delete one first.")
        saved = SavedSearch.objects.create(
            pk=pk or uuid4(), owner_id=access.owner_id, name=name, query=query
        )
        changes.row_added(access, saved, fields=["name", "query"])
    return saved


def list_saved_searches(access: Access) -> list[SavedSearch]:
    """The caller's saved searches by name."""
    access.require(Capability.READ)
    return list(SavedSearch.objects.visible_to(access))


@transaction.atomic
def delete_saved_search(access: Access, search_id: UUID) -> None:
    """Forget a saved search."""
    access.require(Capability.WRITE)
    searches = SavedSearch.objects.visible_to(access).select_for_update()
    saved = searches.filter(pk=search_id).first()
    if saved is None:
        raise not_found("saved search")
    changes.row_deleted(access, saved)
    saved.delete()


def _clean_query(query: str) -> str:
    """Pairs of names and values, encoded anew, so that it can be part of an address."""
    query = clean_text(query, field="query", shortest=1, longest=MAX_QUERY_STRING)
    pairs = [(name, value) for name, value in parse_qsl(query.removeprefix("?")) if name != "page"]
    if not pairs:
        raise InvalidInput(
            "Type something to search for, or choose a filter, first.", field="query"
        )
    return urlencode(pairs)
