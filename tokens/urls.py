from django.urls import path

from tokens.activity_api import ActivityView
from tokens.api import TokensView, TokenView, WhoAmIView
from tokens.connections_api import ConnectionsView, ConnectionView

app_name = "tokens_api"

urlpatterns = [
    path("whoami", WhoAmIView.as_view(), name="whoami"),
    path("activity", ActivityView.as_view(), name="activity"),
    path("tokens", TokensView.as_view(), name="tokens"),
    path("connections", ConnectionsView.as_view(), name="connections"),
    path("connections/<str:token_id>", ConnectionView.as_view(), name="connection"),
    path("tokens/<str:token_id>", TokenView.as_view(), name="token"),
]
