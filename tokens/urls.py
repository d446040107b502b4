from django.urls import path

from tokens.activity_api import ActivityView
from tokens.api import TokensView, TokenView, WhoAmIView

app_name = "tokens_api"

urlpatterns = [
    path("whoami", WhoAmIView.as_view(), name="whoami"),
    path("activity", ActivityView.as_view(), name="activity"),
    path("tokens", TokensView.as_view(), name="tokens"),
    path("tokens/<str:token_id>", TokenView.as_view(), name="token"),
]
