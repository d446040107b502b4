"""Skills and knowledge units: how good they are, what was contributed, and what agents say."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from knowledge.admin.base import ReadOnlyAdmin, button, pre_block
from knowledge.admin.item_pages import ItemPages
from knowledge.admin.reputation import judgments_table
from knowledge.admin.tables import item_page, page_of, pretty, table
from knowledge.models import Contribution, Validation, Version

SHOWN = 50


@admin.register(Contribution)
class ContributionAdmin(ReadOnlyAdmin[Contribution], ItemPages[Contribution]):
    list_display = [
        *("short_title", "type", "domain", "owner", "score", "judgments", "versions_kept"),
        *("visibility_badge", "suspicion_badge", "updated_at"),
    ]
    list_filter = [
        *("type", "visibility", "quarantined", "archived"),
        ("owner", admin.RelatedOnlyFieldListFilter),
    ]
    actions_detail = ["all_about_it"]
    fieldsets = [
        (None, {"fields": ["short_title", "type", "owner", "added_by_agent", "visibility"]}),
        ("Quality", {"fields": ["quality_rows"]}),
        ("Current version", {"fields": ["current"]}),
        ("Attributes", {"fields": ["says", "tags"]}),
        ("Versions", {"fields": ["all_versions"]}),
        ("Judgments", {"fields": ["all_judgments", "quarantine"]}),
        ("Origin", {"fields": ["id", "created_at", "updated_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Contribution]:
        said = Validation.objects.filter(item=OuterRef("pk"), is_current=True)
        return (
            super()
            .get_queryset(request)
            .annotate(
                valid_count=_count(said.filter(valid=True)),
                invalid_count=_count(said.filter(valid=False)),
                version_count=_count(Version.objects.filter(item=OuterRef("pk"))),
            )
        )

    @admin.display(description="domain")
    def domain(self, item: Contribution) -> str:
        return str(item.attributes.get("domain") or "")

    @admin.display(description="quality", ordering="quality")
    def score(self, item: Contribution) -> str:
        return "not scored" if item.quality is None else f"{item.quality:.2f}"

    @admin.display(description="valid / not valid")
    def judgments(self, item: Any) -> str:
        return f"{item.valid_count} / {item.invalid_count}"

    @admin.display(description="versions", ordering="version_count")
    def versions_kept(self, item: Any) -> int:
        count: int = item.version_count
        return count

    @admin.display(description="document")
    def current(self, item: Contribution) -> SafeString | str:
        version = item.versions.order_by("-number").first()
        return document_of(version) if version else "There are no versions."

    @admin.display(description="versions")
    def all_versions(self, item: Contribution) -> SafeString:
        rows = [
            [
                page_of(version, f"{version.number}. {version.label}"),
                version.added_by_agent,
                version.get_visibility_display(),
                len(version.files),
                version.digest[:12],
                version.created_at,
            ]
            for version in item.versions.order_by("-number")[:SHOWN]
        ]
        headings = ["Version", "By", "For", "Files", "Digest", "At"]
        return table(headings, rows, empty="There are no versions.")

    @admin.display(description="judgments")
    def all_judgments(self, item: Contribution) -> SafeString:
        return judgments_table(Validation.objects.filter(item=item))

    @button("Open the item", permissions=["view"], url_path="item", icon="article")
    def all_about_it(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return redirect("admin:knowledge_item_change", object_id)


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin[Version]):
    owner_path = "item__owner"
    list_display = ["number", "label", "of_item", "added_by_agent", "visibility", "created_at"]
    list_filter = ["visibility"]
    search_fields = ["label", "item__content__title", "added_by_agent", "=digest", "=item__id"]
    ordering = ["-created_at"]
    fieldsets = [
        (None, {"fields": ["of_item", "number", "label", "added_by_agent", "visibility"]}),
        ("What was contributed", {"fields": ["document_block", "file_blocks"]}),
        ("Origin", {"fields": ["id", "digest", "created_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Version]:
        versions = super().get_queryset(request).select_related("item__content")
        return versions.defer("item__content__text", "item__content__locators")

    @admin.display(description="of")
    def of_item(self, version: Version) -> SafeString:
        return item_page(version.item)

    @admin.display(description="document")
    def document_block(self, version: Version) -> SafeString | str:
        return document_of(version)

    @admin.display(description="files")
    def file_blocks(self, version: Version) -> SafeString | str:
        files = ((path, _text_of(file)) for path, file in version.files.items())
        closed = "<details><summary>{}</summary>{}</details>"
        return format_html_join("", closed, files) or "none"


def document_of(version: Version) -> SafeString | str:
    """A SKILL.md as it was written, or a unit set out on lines."""
    document = version.document
    if isinstance(document, dict) and "skill_md" in document:
        return pre_block(document["skill_md"])
    return pre_block(pretty(document))


def _text_of(file: Any) -> SafeString | str:
    if isinstance(file, dict) and "text" in file:
        return pre_block(file["text"])
    return format_html("<p>{}</p>", "This file is not text.")


def _count(rows: QuerySet[Any]) -> Coalesce:
    """How many rows there are of each item, without a join that would multiply the others."""
    counted = rows.order_by().values("item").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), Value(0))
