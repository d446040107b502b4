"""Many entries in one call: each by itself, or all or nothing. Texts are added so, and memories."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput, OutOfScope, QuarryError
from knowledge.indexing.preparing import prepare_texts
from knowledge.ingest.adding import (
    AddedItem,
    AddOptions,
    check_kind,
    check_options,
    check_text,
    require_value,
)
from knowledge.ingest.estimating import Estimate, text_estimate
from knowledge.ingest.items import NewText, create_text_items
from knowledge.ledger import quotas
from knowledge.models import Folder

MAX_BATCH = 100

T = TypeVar("T")
Done = TypeVar("Done")


class AskedText(AddOptions, total=False):
    """One text of a batch, as its caller sent it; not checked yet."""

    kind: str
    text: str | None
    url: str | None


def add_texts(
    access: Access, entries: Sequence[AskedText | QuarryError], *, atomic: bool = False
) -> list[AddedItem | QuarryError]:
    """Add texts, and say of each what became of it; an error stands for one nobody could read."""
    drafts = _check_texts(access, entries, atomic=atomic)
    return for_all_fit(
        for_all_fit(drafts, _prepare),
        lambda texts: write_together(texts, lambda some: _write(access, some), atomic=atomic),
    )


def estimate_texts(
    access: Access, entries: Sequence[AskedText | QuarryError], *, atomic: bool = False
) -> list[Estimate | QuarryError]:
    """What adding each of these texts would be and cost; nothing is kept."""
    drafts = _check_texts(access, entries, atomic=atomic)
    quota = quotas.quota_of(access.owner_id)
    return for_all_fit(
        drafts, lambda texts: [text_estimate(quota, each.options.title) for each in texts]
    )


def _check_texts(
    access: Access, entries: Sequence[AskedText | QuarryError], *, atomic: bool
) -> list[NewText | QuarryError]:
    access.require(Capability.WRITE)
    refuse_wrong_count(entries)
    named = {each.get("folder_id") for each in entries if not isinstance(each, QuarryError)}
    folders = Folder.objects.visible_to(access).filter(pk__in=named - {None})
    seen = set(folders.values_list("pk", flat=True)) if named - {None} else set()
    drafts = attempt_each(entries, lambda entry: _check_text(access, entry, seen))
    if atomic:
        refuse_failed(drafts)
    return drafts


def _check_text(access: Access, entry: AskedText, folders: set[UUID]) -> NewText:
    given: dict[str, Any] = dict(entry)
    kind, text, _ = given.pop("kind", "text"), given.pop("text", None), given.pop("url", None)
    check_kind(kind)
    if kind != "text":
        raise InvalidInput(
            "A batch takes texts alone; send a link by itself to POST /ingest.", field="kind"
        )
    require_value(given.get("title"), "title", kind)
    folder_id = given.pop("folder_id", None)
    if folder_id and folder_id not in folders:
        raise OutOfScope([folder_id])
    options = replace(check_options(access, **given), folder_id=folder_id)
    return NewText(check_text(require_value(text, "text", kind)), options, None)


def _prepare(texts: Sequence[NewText]) -> list[NewText]:
    searchable = [each for each in texts if each.options.in_kb]
    ready = iter(prepare_texts([(each.text, each.options.title) for each in searchable]))
    return [each._replace(prepared=next(ready)) if each.options.in_kb else each for each in texts]


def _write(access: Access, texts: Sequence[NewText]) -> list[AddedItem]:
    items = create_text_items(access, texts)
    return [
        AddedItem.of_new(access, item, each.options)
        for item, each in zip(items, texts, strict=True)
    ]


# Of every batch ----------------------------------------------------------------------------------


def refuse_wrong_count(entries: Sequence[object]) -> None:
    if not 0 < len(entries) <= MAX_BATCH:
        raise InvalidInput(
            f"entries must be between 1 and {MAX_BATCH}; this has {len(entries)}.", field="entries"
        )


def attempt_each(
    entries: Sequence[T | QuarryError], step: Callable[[T], Done]
) -> list[Done | QuarryError]:
    """What a step makes of each entry, or its error."""
    return [_attempt(entry, step) for entry in entries]


def refuse_failed(outcomes: Sequence[object]) -> None:
    """Of all or nothing: refuse all where one has failed."""
    failed = [(n, each) for n, each in enumerate(outcomes) if isinstance(each, QuarryError)]
    if not failed:
        return
    index, first = failed[0]
    error = copy(first)
    error.message = f"entries[{index}]: {first.message} Nothing was added."
    error.details = {**first.details, "entries": [error_shape(n, each) for n, each in failed]}
    raise error


def for_all_fit(
    outcomes: Sequence[T | QuarryError], step: Callable[[list[T]], Sequence[Done | QuarryError]]
) -> list[Done | QuarryError]:
    """What a step makes of all entries that have not failed, each in its place."""
    done = iter(step([each for each in outcomes if not isinstance(each, QuarryError)]))
    return [each if isinstance(each, QuarryError) else next(done) for each in outcomes]


def write_together(
    drafts: Sequence[T], write: Callable[[Sequence[T]], list[Done]], *, atomic: bool
) -> list[Done | QuarryError]:
    """Write drafts in one transaction; if one is refused after all, each in one of its own."""
    if not drafts:
        return []
    try:
        with transaction.atomic():
            return [*write(drafts)]
    except QuarryError as error:
        if atomic:
            raise
        if len(drafts) == 1:
            return [error]
    return [each for one in drafts for each in write_together([one], write, atomic=False)]


def error_shape(index: int, error: QuarryError) -> dict[str, Any]:
    """An entry's error as a single call would have it, and which entry it is."""
    return {"index": index, "error": error.code, "message": error.message, **error.details}


def _attempt(entry: T | QuarryError, step: Callable[[T], Done]) -> Done | QuarryError:
    if isinstance(entry, QuarryError):
        return entry
    try:
        return step(entry)
    except QuarryError as error:
        return error
