"""What memory's search takes and answers."""

from math import inf
from typing import Any

from rest_framework import serializers

from knowledge.api.base import Input
from knowledge.api.fields import Flag, Id, ListOf, Number, OneOf, Since, Text, WholeNumber
from knowledge.api.shapes import CopyOutput
from knowledge.memory.requests import MAX_HALF_LIFE, MAX_LIMIT
from knowledge.memory.searching import MAX_CONTENT, MAX_PREVIEW
from knowledge.models import ItemType
from knowledge.retrieval.search import MAX_OFFSET, MAX_QUERY
from knowledge.validation import MAX_TAG

ORIGINS = ("graph", "document")


class HalfLife(Number):
    """A number whose range the domain checks."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=-inf, max_value=inf, **kwargs)
        self.shown = {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_HALF_LIFE}

    def to_internal_value(self, data: Any) -> float:
        # As it came: a whole number may be too large to be a float.
        is_whole = isinstance(data, int) and not isinstance(data, bool)
        return data if is_whole else super().to_internal_value(data)


class MemorySearchInput(Input):
    """The ranges shown here are the domain's own, which checks them."""

    query = Text(shortest=1, longest=MAX_QUERY, help_text="What to find.")
    types = ListOf(child=OneOf(ItemType.choices), default=list, most=20)
    language = Text(required=False, allow_null=True, shortest=1, longest=MAX_TAG)
    category = Text(required=False, allow_null=True, shortest=1, longest=MAX_TAG)
    status = Text(
        required=False, allow_null=True, help_text="States of tasks, by commas: todo,doing."
    )
    project = Id(required=False, allow_null=True, help_text="Only what is of this project.")
    assignee = Text(required=False, allow_null=True, shortest=1, longest=MAX_TAG)
    source = Text(  # type: ignore[assignment]
        required=False, allow_null=True, help_text="The same as source_name."
    )
    source_id = Id(required=False, allow_null=True, help_text="A documentation source.")
    source_name = Text(required=False, allow_null=True, help_text="Part of its name.")
    since = Since(required=False, allow_null=True)
    temporal_decay_days = HalfLife(
        required=False,
        allow_null=True,
        help_text="The half-life by which age counts; without it, only between near equals.",
    )
    limit = WholeNumber(default=10, min_value=1, max_value=MAX_LIMIT)
    offset = WholeNumber(default=0, min_value=0, max_value=MAX_OFFSET)
    include_content = Flag(
        default=True,
        help_text=f"Passages up to {MAX_CONTENT:,} characters; else previews up to {MAX_PREVIEW}.",
    )
    include_documents = Flag(default=True, help_text="Search what was read.")
    include_graph = Flag(default=True, help_text="Search what was remembered.")
    use_enhanced = Flag(default=True, help_text="Look again at the best, and raise the related.")
    boost_recent = Flag(default=True, help_text="Let what changed lately count for more.")


class MemoryResultOutput(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    user_item_id = serializers.UUIDField(help_text="The same as id.")
    chunk_id = serializers.IntegerField()
    type = serializers.ChoiceField(ItemType.choices)
    name = serializers.CharField()
    title = serializers.CharField()
    content = serializers.CharField()
    score = serializers.FloatField()
    source = serializers.CharField(  # type: ignore[assignment]
        allow_null=True, help_text="The documentation source that it was crawled from."
    )
    url = serializers.CharField()
    result_origin = serializers.ChoiceField(ORIGINS)
    metadata = serializers.DictField()
    copies = CopyOutput(many=True, help_text="Other items that have this very text.")
    untrusted = serializers.BooleanField()


class MemorySearchOutput(serializers.Serializer[Any]):
    results = MemoryResultOutput(many=True)
    total = serializers.IntegerField()
    query = serializers.CharField()
    filters = serializers.DictField()
    graph_count = serializers.IntegerField()
    document_count = serializers.IntegerField()
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
    has_more = serializers.BooleanField()
    usage_hint = serializers.CharField()
    degraded = serializers.CharField(allow_null=True)
