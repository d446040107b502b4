from django.contrib import admin

from knowledge.admin.base import ReadOnlyAdmin
from knowledge.models import Generation


@admin.register(Generation)
class GenerationAdmin(ReadOnlyAdmin[Generation]):
    names = ("set of embeddings", "embeddings")
    _columns = ["embedder", "dimensions", "background", "is_live", "created_at"]
    list_display = [*_columns]
    fields = [*_columns]
    search_fields = ["embedder"]
    ordering = ["-created_at"]
