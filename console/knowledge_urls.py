"""Addresses of what a person knows and connects: ask, memory, registry, connections, settings."""

from django.urls import path

from console import (
    ask_views,
    connection_views,
    memory_views,
    reading_views,
    registry_views,
    settings_views,
)

KNOWLEDGE = [
    path("ask/", ask_views.AskView.as_view(), name="ask"),
    path("memory/", memory_views.MemoryView.as_view(), name="memory"),
    path("memory/new", memory_views.RememberView.as_view(), name="remember"),
    path("memory/board", memory_views.BoardView.as_view(), name="board"),
    path("memory/relations", memory_views.RelationsView.as_view(), name="relations"),
    path(
        "memory/relations/<uuid:item_id>",
        memory_views.RelationsView.as_view(),
        name="relations_of",
    ),
    path("registry/", registry_views.RegistryView.as_view(), name="registry"),
    path("registry/contribute", registry_views.ContributeView.as_view(), name="contribute"),
    path("registry/<uuid:item_id>", registry_views.ContributionView.as_view(), name="contribution"),
    path(
        "registry/<uuid:item_id>/archive",
        registry_views.ArchiveView.as_view(),
        name="skill_archive",
    ),
    path("connections/", connection_views.ConnectionsView.as_view(), name="connections"),
    path("connections/new", connection_views.MintView.as_view(), name="mint"),
    path(
        "connections/<uuid:token_id>", connection_views.ConnectionView.as_view(), name="connection"
    ),
    path(
        "connections/<uuid:token_id>/narrow", connection_views.NarrowView.as_view(), name="narrow"
    ),
    path(
        "connections/<uuid:token_id>/revoke", connection_views.RevokeView.as_view(), name="revoke"
    ),
    path(
        "connections/<uuid:token_id>/undo",
        connection_views.UndoWritesView.as_view(),
        name="undo_writes",
    ),
    path("settings/", settings_views.SettingsView.as_view(), name="settings"),
    path("settings/export", settings_views.ExportView.as_view(), name="export"),
    path("settings/exports", settings_views.ExportsView.as_view(), name="exports"),
    path(
        "settings/exports/<uuid:export_id>/file",
        settings_views.ExportFileView.as_view(),
        name="export_file",
    ),
    path("settings/import", settings_views.ImportView.as_view(), name="import_archive"),
    path("settings/imports", settings_views.ArchiveImportsView.as_view(), name="archive_imports"),
    path(
        "settings/imports/<uuid:import_id>/cancel",
        settings_views.CancelArchiveImportView.as_view(),
        name="cancel_archive_import",
    ),
    path("items/<uuid:item_id>/marks", reading_views.MarksView.as_view(), name="marks"),
    path("items/<uuid:item_id>/notes", reading_views.ItemNoteView.as_view(), name="item_note"),
    path("items/<uuid:item_id>/progress", reading_views.ProgressView.as_view(), name="progress"),
    path("highlights/<uuid:highlight_id>/note", reading_views.NoteView.as_view(), name="note"),
    path(
        "highlights/<uuid:highlight_id>/remove",
        reading_views.RemoveHighlightView.as_view(),
        name="remove_highlight",
    ),
    path("searches", reading_views.SavedSearchesView.as_view(), name="saved_searches"),
    path(
        "searches/<uuid:search_id>/delete",
        reading_views.DeleteSavedSearchView.as_view(),
        name="delete_saved_search",
    ),
]
