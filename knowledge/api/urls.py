from django.urls import path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerView

from knowledge.api.base import NoSuchRoute
from knowledge.api.folders import FoldersView, FolderView
from knowledge.api.items import IngestView, ItemFoldersView, ItemFolderView, ItemsView, ItemView
from knowledge.api.search import SearchView

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
    path("folders", FoldersView.as_view(), name="folders"),
    path("folders/<str:folder_id>", FolderView.as_view(), name="folder"),
    path("openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="library_api:openapi"), name="docs"),
    re_path(r"^.*$", NoSuchRoute.as_view()),
]
