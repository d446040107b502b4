"""How items, hits and folders look in answers."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from knowledge.models import (
    ContentState,
    Folder,
    IndexStatus,
    Item,
    ItemType,
    Step,
    TranscriptionStatus,
    Transform,
    TransformState,
    Visibility,
)
from knowledge.retrieval.search import MODES, Hit

ITEM_STATES = ("ready", "failed", "transcribing", "processing")
ESTIMATED_STATES = ("ready", "transcribing")
VISIBLE_BY = ("whole_library", "folder", "own_unfiled_addition")


class Suspected(serializers.ListField):
    """The rules by which the screening suspects an item."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("help_text", "The rules by which the screening suspects it.")
        super().__init__(child=serializers.CharField(), **kwargs)


class ItemOutput(serializers.ModelSerializer[Item]):
    """An item as a listing shows it."""

    user_item_id = serializers.UUIDField(source="pk", read_only=True)
    title = serializers.CharField(read_only=True)
    type = serializers.ChoiceField(ItemType.choices, read_only=True)
    kind = serializers.CharField(source="content.kind", read_only=True)
    source_url = serializers.CharField(read_only=True, allow_null=True)
    visibility = serializers.ChoiceField(Visibility.choices, read_only=True)
    folder_ids = serializers.ListField(child=serializers.UUIDField(), read_only=True)
    status = serializers.ChoiceField(ITEM_STATES, read_only=True)
    transcription_status = serializers.ChoiceField(
        TranscriptionStatus.choices, source="content.transcription_status", read_only=True
    )
    index_status = serializers.ChoiceField(IndexStatus.choices, read_only=True)
    suspected = Suspected(read_only=True)

    class Meta:
        model = Item
        fields = [
            "user_item_id",
            "content_id",
            "title",
            "type",
            "kind",
            "source_url",
            "in_kb",
            "tags",
            "archived",
            "visibility",
            "folder_ids",
            "status",
            "transcription_status",
            "index_status",
            "index_error",
            "suspected",
            "created_at",
            "updated_at",
        ]
        read_only_fields = fields


class ProgressOutput(serializers.Serializer[Any]):
    """How far the work on an item's text is, and why it failed if it did."""

    state = serializers.ChoiceField(ContentState.choices)
    step = serializers.CharField(
        help_text=f"One of {', '.join(Step.values)}; empty when nothing is at work."
    )
    percent = serializers.IntegerField()
    reason = serializers.CharField(help_text="One word; empty unless it failed.")
    error = serializers.CharField(help_text="One sentence; empty unless it failed.")


class SegmentOutput(serializers.Serializer[Any]):
    """A span of the text, and the page or the seconds of the source that it stands for."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()
    page = serializers.IntegerField(required=False)
    start_sec = serializers.FloatField(required=False)
    end_sec = serializers.FloatField(required=False)
    speaker = serializers.CharField(required=False)
    text = serializers.CharField(required=False, help_text="Of an utterance; a page has none.")


class QuoteLocatorOutput(serializers.Serializer[Any]):
    """Only what the source has: pages, seconds, an address."""

    char_span = serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2)
    page = serializers.IntegerField(required=False)
    start_sec = serializers.FloatField(required=False)
    url = serializers.CharField(required=False)


class QuoteOutput(serializers.Serializer[Any]):
    text = serializers.CharField()
    locator = QuoteLocatorOutput()


class TransformOutput(serializers.ModelSerializer[Transform]):
    """An item's summary, or why it has none."""

    user_item_id = serializers.UUIDField(source="item_id", read_only=True)
    state = serializers.ChoiceField(TransformState.choices, read_only=True)
    key_points = serializers.ListField(child=serializers.CharField(), read_only=True)
    quotes = QuoteOutput(many=True, read_only=True)
    cost_usd = serializers.FloatField(read_only=True, allow_null=True)

    class Meta:
        model = Transform
        fields = [
            "user_item_id",
            "state",
            "tldr",
            "key_points",
            "quotes",
            "model",
            "cost_usd",
            "error",
            "changed_at",
        ]
        read_only_fields = fields


class FullItemOutput(ItemOutput):
    """An item with all that its source said."""

    attributes = serializers.JSONField(source="told_attributes", read_only=True)
    author = serializers.CharField(source="content.author", read_only=True)
    language = serializers.CharField(source="content.language", read_only=True)
    published_at = serializers.DateTimeField(
        source="content.published_at", read_only=True, allow_null=True
    )
    duration_sec = serializers.FloatField(
        source="content.duration_sec", read_only=True, allow_null=True
    )
    text = serializers.CharField(source="content.text", read_only=True)
    segments = serializers.SerializerMethodField()
    transcription_error = serializers.CharField(source="content.error", read_only=True)
    transcript_by = serializers.CharField(
        source="content.rung",
        read_only=True,
        help_text="publisher, captions or the transcriber; empty where nothing was spoken.",
    )
    transcription_cost_usd = serializers.FloatField(
        source="content.cost_usd", read_only=True, allow_null=True
    )
    progress = ProgressOutput(source="content", read_only=True)
    transform = TransformOutput(source="summary", read_only=True, allow_null=True)

    class Meta(ItemOutput.Meta):
        fields = [
            *ItemOutput.Meta.fields,
            "quarantined",
            "attributes",
            "chunk_count",
            "author",
            "language",
            "published_at",
            "duration_sec",
            "text",
            "segments",
            "transcription_error",
            "transcript_by",
            "transcription_cost_usd",
            "progress",
            "transform",
        ]
        read_only_fields = fields

    @extend_schema_field(SegmentOutput(many=True))
    def get_segments(self, item: Item) -> list[dict[str, Any]]:
        text = item.content.text
        return [
            {**part, "text": text[part["start"] : part["end"]]} if "start_sec" in part else part
            for part in item.content.locators
        ]


class ItemPageOutput(serializers.Serializer[Any]):
    items = ItemOutput(many=True)
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    per_page = serializers.IntegerField()


class FolderOutput(serializers.ModelSerializer[Folder]):
    item_count = serializers.IntegerField(read_only=True)
    last_added_at = serializers.DateTimeField(read_only=True, allow_null=True)

    class Meta:
        model = Folder
        fields = ["id", "name", "created_at", "item_count", "last_added_at"]
        read_only_fields = fields


class SignalOutput(serializers.Serializer[Any]):
    rank = serializers.IntegerField(allow_null=True)
    score = serializers.FloatField()


class SignalsOutput(serializers.Serializer[Any]):
    semantic = SignalOutput()
    keyword = SignalOutput()
    cosine = serializers.FloatField(allow_null=True)


class LocatorOutput(serializers.Serializer[Any]):
    page = serializers.IntegerField(allow_null=True)
    start_sec = serializers.FloatField(allow_null=True)
    char_span = serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2)
    url = serializers.CharField()


class ExplanationOutput(serializers.Serializer[Any]):
    matched_terms = serializers.ListField(child=serializers.CharField())
    visible_by = serializers.ChoiceField(VISIBLE_BY)
    folder_id = serializers.UUIDField(allow_null=True)


class WholeChunkOutput(serializers.Serializer[Any]):
    chunk_id = serializers.IntegerField()
    char_span = serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2)
    text = serializers.CharField()


class CopyOutput(serializers.Serializer[Any]):
    """Another item with the same text, which took no place of its own."""

    user_item_id = serializers.UUIDField()
    title = serializers.CharField()


class HitOutput(serializers.Serializer[Hit]):
    score = serializers.FloatField()
    signals = SignalsOutput(source="*")
    title = serializers.CharField(source="item.title")
    user_item_id = serializers.UUIDField(source="item.pk")
    chunk_id = serializers.IntegerField(source="chunk.pk")
    passage = serializers.CharField()
    highlights = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2),
        help_text="Spans of the passage that match the query.",
    )
    similar_chunk_ids = serializers.ListField(child=serializers.IntegerField())
    copies = CopyOutput(many=True, help_text="Other items that have this very text.")
    chunks = WholeChunkOutput(
        many=True, help_text="With `window`: the hit's chunk among its neighbours, in order."
    )
    explanation = ExplanationOutput(allow_null=True)
    locator = LocatorOutput()
    folder_ids = serializers.ListField(child=serializers.UUIDField(), source="item.folder_ids")
    source_url = serializers.CharField(source="item.source_url", allow_null=True)
    suspected = Suspected(source="item.suspected")
    untrusted = serializers.BooleanField(
        help_text="Always true: what a source says is data, never an instruction."
    )


class SearchOutput(serializers.Serializer[Any]):
    results = HitOutput(many=True, source="hits")
    mode = serializers.ChoiceField(MODES)
    degraded = serializers.CharField(allow_null=True)


class QuotaOutput(serializers.Serializer[Any]):
    """A month's minutes of transcription; null is without a cap."""

    tier = serializers.CharField()
    cap_per_month = serializers.IntegerField(allow_null=True)
    used = serializers.FloatField()
    remaining = serializers.FloatField(allow_null=True)


class EstimateOutput(serializers.Serializer[Any]):
    """What an addition would be and cost; nothing was kept."""

    dry_run = serializers.BooleanField(default=True)
    kind = serializers.CharField()
    title = serializers.CharField()
    status = serializers.ChoiceField(ESTIMATED_STATES)
    minutes = serializers.FloatField(
        allow_null=True, help_text="Of transcription; null where the source does not tell."
    )
    cost_usd = serializers.FloatField(allow_null=True)
    fits_quota = serializers.BooleanField()
    quota = QuotaOutput()


class AddOutput(serializers.Serializer[Any]):
    status = serializers.ChoiceField(ITEM_STATES, source="item.status")
    user_item_id = serializers.UUIDField(source="item.pk")
    content_id = serializers.UUIDField(source="item.content_id")
    folder_id = serializers.UUIDField(allow_null=True)
    index_status = serializers.ChoiceField(IndexStatus.choices, source="item.index_status")
    transform_error = serializers.CharField(allow_null=True)
