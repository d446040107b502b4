from django.urls import path

from console import bring_urls
from console.change_views import ChangesView, UndoChangeView
from console.folder_views import FoldersView, FolderView
from console.frame_views import UndoView, choose_theme
from console.item_views import (
    ChangeItemView,
    FileItemView,
    ItemActionView,
    ItemPartView,
    ItemView,
)
from console.knowledge_urls import KNOWLEDGE
from console.library_views import ActionsView, LibraryView
from console.original_views import MediaView, OriginalView, PagePictureView

app_name = "console"

urlpatterns = [
    path("", LibraryView.as_view(), name="library"),
    path("items/actions", ActionsView.as_view(), name="actions"),
    path("items/<uuid:item_id>", ItemView.as_view(), name="item"),
    path("items/<uuid:item_id>/parts/<int:number>", ItemPartView.as_view(), name="item_part"),
    path("items/<uuid:item_id>/change", ChangeItemView.as_view(), name="change_item"),
    path("items/<uuid:item_id>/folders", FileItemView.as_view(), name="file_item"),
    path("items/<uuid:item_id>/do/<str:action>", ItemActionView.as_view(), name="item_action"),
    path("items/<uuid:item_id>/original", OriginalView.as_view(), name="original"),
    path("items/<uuid:item_id>/media", MediaView.as_view(), name="media"),
    path("items/<uuid:item_id>/pages/<int:page>", PagePictureView.as_view(), name="page_picture"),
    path("folders/", FoldersView.as_view(), name="folders"),
    path("folders/<uuid:folder_id>", FolderView.as_view(), name="folder"),
    *KNOWLEDGE,
    path("changes/", ChangesView.as_view(), name="changes"),
    path("changes/<int:change_id>/undo", UndoChangeView.as_view(), name="undo_change"),
    path("undo/<uuid:action_id>", UndoView.as_view(), name="undo"),
    path("theme", choose_theme, name="theme"),
    *bring_urls.urlpatterns,
]
