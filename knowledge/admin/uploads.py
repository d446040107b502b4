from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.admin.base import ReadOnlyAdmin, badge
from knowledge.admin.tables import token_page
from knowledge.models import Upload, UploadState

_COLOURS = {
    UploadState.BEGUN: "warning",
    UploadState.STORED: "info",
    UploadState.FINISHED: "success",
}


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin[Upload]):
    owner_path = "owner"
    list_display = ["short_name", "owner", "media_type", "size_text", "state_badge", "created_at"]
    list_filter = ["state", "media_type", ("owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["filename", "owner__username", "=id"]
    ordering = ["-created_at"]
    fieldsets = [
        (None, {"fields": ["filename", "media_type", "size_text", "owner", "content"]}),
        ("Progress", {"fields": ["state_badge", "created_at", "expires_at"]}),
        ("Origin", {"fields": ["id", "token_link", "key"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Upload]:
        uploads = super().get_queryset(request).select_related("owner", "content")
        return uploads.defer("content__text", "content__locators")

    @admin.display(description="file", ordering="filename")
    def short_name(self, upload: Upload) -> str:
        return Truncator(upload.filename).chars(60)

    @admin.display(description="size", ordering="size")
    def size_text(self, upload: Upload) -> str:
        return filesizeformat(upload.size)

    @admin.display(description="sent by")
    def token_link(self, upload: Upload) -> SafeString | str:
        return token_page(upload.token_id)

    @badge("state", _COLOURS)
    def state_badge(self, upload: Upload) -> str:
        return upload.state
