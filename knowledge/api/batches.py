"""What the routes have in common that take many entries in one call."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any, cast

from rest_framework import serializers
from rest_framework.request import Request

from knowledge.api.base import AskView, Input
from knowledge.api.fields import Entries, Flag
from knowledge.errors import InvalidInput, QuarryError
from knowledge.ingest.batches import MAX_BATCH, error_shape

ENTRIES_PER_CALL = 10


class BatchView(AskView):
    """A view whose body has many entries, each of which is read by itself."""

    def calls(self, request: Request) -> int:
        """One for every ten entries; of a body that is no batch, one."""
        entries = request.data.get("entries") if isinstance(request.data, dict) else None
        count = len(entries) if isinstance(entries, list) else 1
        return ceil(min(max(count, 1), MAX_BATCH) / ENTRIES_PER_CALL)

    @staticmethod
    def results(outcomes: Sequence[Any], shape: serializers.Serializer[Any]) -> dict[str, Any]:
        """The answer to a batch: what became of each entry."""
        refused = sum(isinstance(each, QuarryError) for each in outcomes)
        results = [
            error_shape(n, each)
            if isinstance(each, QuarryError)
            else {"index": n, "answer": shape.to_representation(each)}
            for n, each in enumerate(outcomes)
        ]
        return {"results": results, "accepted": len(outcomes) - refused, "refused": refused}


class BatchInput(Input):
    """Many entries at once. One that is refused has no effect on the others."""

    atomic = Flag(default=False, help_text="All or nothing: one that is refused refuses all.")

    @classmethod
    def read(cls, request: Request) -> tuple[list[Any], dict[str, Any]]:
        """The fields of each entry, or the error that refuses it; and what else is asked."""
        asked, entries = cls.of_body(request), cast(Entries, cls().fields["entries"])
        return list(_read_entries(cast(Input, entries.child), asked["entries"])), asked


class ResultOutput(serializers.Serializer[Any]):
    """What became of one entry: what a call for it alone would have answered."""

    index = serializers.IntegerField(help_text="Its place among the entries, from 0.")
    error = serializers.CharField(required=False, help_text="If it was refused: the code.")
    message = serializers.CharField(required=False, help_text="If it was refused: why.")


class BatchOutput(serializers.Serializer[Any]):
    """What became of each entry, in order."""

    accepted = serializers.IntegerField()
    refused = serializers.IntegerField()


def entries_of(entry: Input) -> Entries:
    """The field for entries of this kind."""
    return Entries(child=entry, fewest=1, most=MAX_BATCH)


def _read_entries(reader: Input, given: Sequence[Any]) -> Iterator[Any]:
    # One reader for all: to make one takes longer than to read an entry.
    for entry in given:
        try:
            if not isinstance(entry, dict):
                raise InvalidInput("Each of entries must be a JSON object.", field="entries")
            yield reader.run_validation(entry)
        except QuarryError as error:
            yield error
