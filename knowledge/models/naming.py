"""Names by which rows of one owner's library are found, whatever their case."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import IntegrityError, models, transaction
from django.db.models.functions import Lower

from knowledge.errors import NameTaken, NotFound
from knowledge.validation import id_or_none

ModelT = TypeVar("ModelT", bound=models.Model)


def unique_name(noun: str) -> models.UniqueConstraint:
    """No owner has two of a noun with the same name."""
    return models.UniqueConstraint(
        "owner",
        Lower("name"),
        name=_constraint(noun),
        violation_error_message=f"This owner has a {noun} of that name already.",
    )


@contextmanager
def refuse_taken_name(noun: str, *, hint: str = "") -> Iterator[None]:
    """A transaction in which a name that the owner has given already is refused as taken."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if _constraint(noun) not in str(error):
            raise
        taken = f"There is a {noun} of that name already"
        raise NameTaken(f"{taken}; {hint}." if hint else f"{taken}.", field="name") from None


def get_by_name_or_id(
    rows: models.QuerySet[ModelT], name_or_id: str, *, noun: str, hint: str = ""
) -> ModelT:
    """A row as people name it: its name in any case, or its id."""
    named = list(rows.filter(name__iexact=name_or_id)[:2])
    if len(named) > 1:
        raise NotFound(f"There are several of the name {name_or_id!r}; give the {noun}'s id.")
    row = named[0] if named else None
    if row is None and (row_id := id_or_none(name_or_id)):
        row = rows.filter(pk=row_id).first()
    if row is None:
        names = ", ".join(repr(name) for name in rows.values_list("name", flat=True)) or "none yet"
        raise NotFound(
            f"There is no {noun} {name_or_id!r}; there are: {names}.{hint and f' {hint}'}"
        )
    return row


def _constraint(noun: str) -> str:
    return f"{noun.replace(' ', '_')}_name_once_per_owner"
