"""The addresses of all that brings things in."""

from typing import Any

from django.urls import URLPattern, path

from console.add_views import AddView, RowView, UnderwayItemView, UnderwayView
from console.capture_views import CaptureToolsView, CaptureView, manifest
from console.file_views import BeginFileView, FilesView, FinishFileView, WaitingFileView
from console.import_views import ImportsView, ImportVerbView, ImportView
from console.source_views import (
    EntryView,
    FeedVerbView,
    FeedView,
    SourcesView,
    SourceView,
)


def _verbs(route: str, view: Any, name: str, *verbs: str) -> list[URLPattern]:
    """One address for each thing that can be done to a row."""
    return [path(f"{route}/{verb}", view, {"verb": verb}, name=f"{name}_{verb}") for verb in verbs]


_ITEM, _FILE = "add/underway/<uuid:item_id>", "add/files/<uuid:upload_id>"
_IMPORT, _FEED = "add/imports/<uuid:batch_id>", "sources/feeds/<uuid:feed_id>"

urlpatterns = [
    path("add", AddView.as_view(), name="add"),
    path("add/underway", UnderwayView.as_view(), name="underway"),
    *_verbs(_ITEM, UnderwayItemView.as_view(), "underway", "retry", "remove"),
    path("add/files", FilesView.as_view(), name="files"),
    path("add/files/begin", BeginFileView.as_view(), name="begin_file"),
    path(f"{_FILE}/finish", FinishFileView.as_view(), name="finish_file"),
    *_verbs(_FILE, WaitingFileView.as_view(), "file", "add", "drop"),
    path("add/imports", ImportsView.as_view(), name="imports"),
    path(_IMPORT, ImportView.as_view(), name="import"),
    *_verbs(_IMPORT, ImportVerbView.as_view(), "import", "stop", "resume", "retry", "agree"),
    *_verbs(f"{_IMPORT}/<int:row_id>", RowView.as_view(), "row", "retry", "drop"),
    path("add/capture", CaptureToolsView.as_view(), name="capture_tools"),
    path("capture", CaptureView.as_view(), name="capture"),
    path("manifest.webmanifest", manifest, name="manifest"),
    path("sources", SourcesView.as_view(), name="sources"),
    path("sources/<uuid:source_id>", SourceView.as_view(), name="source"),
    path(_FEED, FeedView.as_view(), name="feed"),
    *_verbs(_FEED, FeedVerbView.as_view(), "feed", "poll", "pause", "unfollow"),
    path(f"{_FEED}/<int:entry_id>", EntryView.as_view(), name="feed_entry"),
]
