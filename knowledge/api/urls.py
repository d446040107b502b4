from django.urls import path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerView

from knowledge.api.base import NoSuchRoute
from knowledge.api.exchange import ExportView, ImportView
from knowledge.api.folders import FoldersView, FolderView
from knowledge.api.items import (
    IngestView,
    ItemFoldersView,
    ItemFolderView,
    ItemRetryView,
    ItemsView,
    ItemView,
)
from knowledge.api.search import SearchView
from knowledge.api.transforms import ItemTransformView
from knowledge.api.uploads import FinalizeDocumentView, FinalizeView, SignedUrlView
from knowledge.api.usage import UsageView
from knowledge.api.webhooks import WebhooksView, WebhookView

app_name = "library_api"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="library_api:docs")),
    path("ingest", IngestView.as_view(), name="ingest"),
    path("search", SearchView.as_view(), name="search"),
    path("items", ItemsView.as_view(), name="items"),
    path("items/<str:item_id>", ItemView.as_view(), name="item"),
    path("items/<str:item_id>/folders", ItemFoldersView.as_view(), name="item-folders"),
    path(
        "items/<str:item_id>/folders/<str:folder_id>",
        ItemFolderView.as_view(),
        name="item-folder",
    ),
    path("items/<str:item_id>/retry", ItemRetryView.as_view(), name="item-retry"),
    path("items/<str:item_id>/transform", ItemTransformView.as_view(), name="item-transform"),
    path("folders", FoldersView.as_view(), name="folders"),
    path("folders/<str:folder_id>", FolderView.as_view(), name="folder"),
    path("uploads/signed-url", SignedUrlView.as_view(), name="signed-url"),
    path("uploads/finalize", FinalizeView.as_view(), name="finalize"),
    path("uploads/finalize-document", FinalizeDocumentView.as_view(), name="finalize-document"),
    path("usage", UsageView.as_view(), name="usage"),
    path("webhooks", WebhooksView.as_view(), name="webhooks"),
    path("webhooks/<str:webhook_id>", WebhookView.as_view(), name="webhook"),
    path("export", ExportView.as_view(), name="export"),
    path("import", ImportView.as_view(), name="import"),
    path("openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="library_api:openapi"), name="docs"),
    re_path(r"^.*$", NoSuchRoute.as_view()),
]
