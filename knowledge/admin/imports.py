"""Imports of other programs' exports, and how far each is."""

from typing import cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.text import Truncator

from knowledge.admin.base import ReadOnlyAdmin, badge
from knowledge.models import BatchState, ImportBatch
from knowledge.models.import_batch import ImportBatchQuerySet

_COLOURS = {
    BatchState.PREVIEW: "warning",
    BatchState.RUNNING: "info",
    BatchState.DONE: "success",
    BatchState.CANCELLED: "warning",
}


@admin.register(ImportBatch)
class ImportBatchAdmin(ReadOnlyAdmin[ImportBatch]):
    names = ("import", "imports")
    owner_path = "owner"
    list_display = ["name", "owner", "format", "state_badge", "figures", "created_at"]
    list_filter = ["state", "format", ("owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["filename", "owner__username", "=id"]
    ordering = ["-created_at"]
    fieldsets = [
        (None, {"fields": ["name", "format", "owner", "folder", "tags"]}),
        ("Progress", {"fields": ["state_badge", "figures", "left_out_count"]}),
        ("Times", {"fields": ["created_at", "begun_at", "finished_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportBatch]:
        batches = cast(ImportBatchQuerySet, super().get_queryset(request))
        return batches.select_related("owner", "folder").with_counts()

    @admin.display(description="file", ordering="filename")
    def name(self, batch: ImportBatch) -> str:
        return Truncator(batch.filename or "pasted links").chars(60)

    @badge("state", _COLOURS)
    def state_badge(self, batch: ImportBatch) -> str:
        return batch.state

    @admin.display(description="rows added / failed / all")
    def figures(self, batch: ImportBatch) -> str:
        counts = batch.row_counts
        return f"{counts['added']:,} / {counts['failed']:,} / {batch.rows_total:,}"
