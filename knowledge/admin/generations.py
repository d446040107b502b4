from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from knowledge.admin.base import ReadOnlyAdmin
from knowledge.maintenance.models_in_use import models_in_use, try_models
from knowledge.models import Generation


@admin.register(Generation)
class GenerationAdmin(ReadOnlyAdmin[Generation]):
    names = ("set of embeddings", "embeddings")
    _columns = ["embedder", "dimensions", "background", "is_live", "created_at"]
    list_display = [*_columns]
    fields = [*_columns]
    search_fields = ["embedder"]
    ordering = ["-created_at"]
    list_before_template = "admin/knowledge/generation/models.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The sets of embeddings below all models in use, which a button tries."""
        is_trial = request.method == "POST" and self.has_view_permission(request)
        models = try_models() if is_trial else models_in_use()
        return super().changelist_view(request, {"models": models, **(extra_context or {})})
