from django.urls import path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerView

from knowledge.api.base import NoSuchRoute
from knowledge.api.exchange import ExportFileView, ExportStateView, ExportView, ImportView
from knowledge.api.exploring import ContextView, ExploreView
from knowledge.api.folders import FoldersView, FolderView
from knowledge.api.imports import ImportStateView
from knowledge.api.items import (
    IngestBatchView,
    IngestView,
    ItemFoldersView,
    ItemFolderView,
    ItemRetryView,
    ItemsView,
    ItemView,
)
from knowledge.api.memory import (
    ItemRelationsView,
    MemoryBatchView,
    MemoryView,
    RelationView,
    TaskMovesView,
)
from knowledge.api.memory_search import MemorySearchView
from knowledge.api.originals import ItemOriginalView
from knowledge.api.providers import HeartbeatsView, ProvidersView, ProviderView
from knowledge.api.registry import (
    SchemaView,
    SkillArchiveView,
    SkillsView,
    SkillVersionsView,
    SkillView,
    UnitsView,
    UnitVersionsView,
    UnitView,
)
from knowledge.api.search import SearchView
from knowledge.api.sources import (
    SourceCrawlsView,
    SourcePagesView,
    SourcesView,
    SourceView,
)
from knowledge.api.transforms import ItemTransformView
from knowledge.api.trust import (
    LeaderboardView,
    ReputationView,
    SkillReportsView,
    SkillValidationsView,
    UnitReportsView,
    UnitValidationsView,
)
from knowledge.api.uploads import FinalizeDocumentView, FinalizeView, SignedUrlView
from knowledge.api.usage import UsageView
from knowledge.api.webhooks import WebhooksView, WebhookView

app_name = "library_api"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="library_api:docs")),
    path("ingest", IngestView.as_view(), name="ingest"),
    path("ingest/batch", IngestBatchView.as_view(), name="ingest-batch"),
    path("search", SearchView.as_view(), name="search"),
    path("items", ItemsView.as_view(), name="items"),
    path("items/<str:item_id>", ItemView.as_view(), name="item"),
    path("items/<str:item_id>/folders", ItemFoldersView.as_view(), name="item-folders"),
    path(
        "items/<str:item_id>/folders/<str:folder_id>",
        ItemFolderView.as_view(),
        name="item-folder",
    ),
    path("items/<str:item_id>/original", ItemOriginalView.as_view(), name="item-original"),
    path("items/<str:item_id>/retry", ItemRetryView.as_view(), name="item-retry"),
    path("items/<str:item_id>/transform", ItemTransformView.as_view(), name="item-transform"),
    path("items/<str:item_id>/relations", ItemRelationsView.as_view(), name="item-relations"),
    path("relations/<str:relation_id>", RelationView.as_view(), name="relation"),
    path("explore", ExploreView.as_view(), name="explore"),
    path("context", ContextView.as_view(), name="context"),
    path("memory", MemoryView.as_view(), name="memory"),
    path("memory/batch", MemoryBatchView.as_view(), name="memory-batch"),
    path("memory/search", MemorySearchView.as_view(), name="memory-search"),
    path("tasks/<str:task_id>/moves", TaskMovesView.as_view(), name="task-moves"),
    path("skills/<str:item_id>/validations", SkillValidationsView.as_view(), name="judge-skill"),
    path("knowledge/<str:item_id>/validations", UnitValidationsView.as_view(), name="judge-unit"),
    path("skills/<str:item_id>/reports", SkillReportsView.as_view(), name="skill-reports"),
    path("knowledge/<str:item_id>/reports", UnitReportsView.as_view(), name="unit-reports"),
    path("reputation/<path:agent_id>", ReputationView.as_view(), name="reputation"),
    path("leaderboard", LeaderboardView.as_view(), name="leaderboard"),
    path("providers", ProvidersView.as_view(), name="providers"),
    path("providers/<str:provider_id>", ProviderView.as_view(), name="provider"),
    path("providers/<str:provider_id>/heartbeats", HeartbeatsView.as_view(), name="heartbeats"),
    path("folders", FoldersView.as_view(), name="folders"),
    path("folders/<str:folder_id>", FolderView.as_view(), name="folder"),
    path("sources", SourcesView.as_view(), name="sources"),
    path("sources/<str:source_id>", SourceView.as_view(), name="source"),
    path("sources/<str:source_id>/crawls", SourceCrawlsView.as_view(), name="source-crawls"),
    path("sources/<str:source_id>/pages", SourcePagesView.as_view(), name="source-pages"),
    path("uploads/signed-url", SignedUrlView.as_view(), name="signed-url"),
    path("uploads/finalize", FinalizeView.as_view(), name="finalize"),
    path("uploads/finalize-document", FinalizeDocumentView.as_view(), name="finalize-document"),
    path("usage", UsageView.as_view(), name="usage"),
    path("webhooks", WebhooksView.as_view(), name="webhooks"),
    path("webhooks/<str:webhook_id>", WebhookView.as_view(), name="webhook"),
    path("export", ExportView.as_view(), name="export"),
    path("exports/<str:export_id>", ExportStateView.as_view(), name="export-state"),
    path("exports/<str:export_id>/file", ExportFileView.as_view(), name="export-file"),
    path("import", ImportView.as_view(), name="import"),
    path("imports/<str:import_id>", ImportStateView.as_view(), name="import-state"),
    path("skills", SkillsView.as_view(), name="skills"),
    path("skills/<str:item_id>", SkillView.as_view(), name="skill"),
    path("skills/<str:item_id>/versions", SkillVersionsView.as_view(), name="skill-versions"),
    path("skills/<str:item_id>/archive", SkillArchiveView.as_view(), name="skill-archive"),
    path("knowledge", UnitsView.as_view(), name="units"),
    path("knowledge/<str:item_id>", UnitView.as_view(), name="unit"),
    path("knowledge/<str:item_id>/versions", UnitVersionsView.as_view(), name="unit-versions"),
    path("schemas/<str:name>", SchemaView.as_view(), name="schema"),
    path("openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="library_api:openapi"), name="docs"),
    re_path(r"^.*$", NoSuchRoute.as_view()),
]
