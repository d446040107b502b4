from django.urls import path

from console.frame_views import UndoView, choose_theme
from console.knowledge_urls import KNOWLEDGE
from console.library_views import LibraryView

app_name = "console"

urlpatterns = [
    path("", LibraryView.as_view(), name="library"),
    *KNOWLEDGE,
    path("undo/<uuid:action_id>", UndoView.as_view(), name="undo"),
    path("theme", choose_theme, name="theme"),
]
