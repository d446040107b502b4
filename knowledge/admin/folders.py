from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from knowledge.access import Access
from knowledge.admin.base import AskAdmin, AskForm
from knowledge.library import items as library
from knowledge.models import Folder


class FolderForm(AskForm[Folder]):
    class Meta:
        model = Folder
        fields = ["owner", "name"]


@admin.register(Folder)
class FolderAdmin(AskAdmin[Folder]):
    owner_path = "owner"
    form = FolderForm
    ordering = ["name"]
    list_display = ["name", "owner", "item_count", "created_at"]
    list_filter = [("owner", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username", "=id"]
    fields = ["owner", "name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Folder]:
        return super().get_queryset(request).annotate(item_count=Count("filings"))

    @admin.display(description="items", ordering="item_count")
    def item_count(self, folder: Any) -> SafeString:
        items = reverse("admin:knowledge_item_changelist")
        return format_html(
            '<a class="text-link" href="{}?folders__id__exact={}">{}</a>',
            items,
            folder.pk,
            folder.item_count,
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Folder | None = None) -> list[str]:
        return ["owner"] if obj else []

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"owner": request.user.pk, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: Folder, form: forms.Form, change: bool) -> None:
        access = Access.whole_library(obj.owner_id)
        if change:
            library.rename_folder(access, obj.pk, obj.name)
        else:
            obj.pk = library.create_folder(access, obj.name).pk
        obj.refresh_from_db()

    def ask_to_delete(self, obj: Folder) -> None:
        library.delete_folder(Access.whole_library(obj.owner_id), obj.pk)

    def consequences(self, obj: Folder) -> list[str]:
        lost = [token for token in obj.tokens.all() if token.folders.count() == 1]
        return [
            f"Its items ({obj.filings.count()}) stay in the library, without this folder.",
            *(f"The token {token} has no other folder, so it stops working." for token in lost),
        ]
