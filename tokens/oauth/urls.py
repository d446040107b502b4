from django.urls import path
from oauth2_provider.views import RevokeTokenView

from tokens.oauth.consent import ConsentView
from tokens.oauth.registration import RegistrationView
from tokens.oauth.token_endpoint import TokenEndpoint

app_name = "oauth2_provider"

urlpatterns = [
    path("authorize", ConsentView.as_view(), name="authorize"),
    path("token", TokenEndpoint.as_view(), name="token"),
    path("revoke", RevokeTokenView.as_view(), name="revoke-token"),
    path("register", RegistrationView.as_view(), name="dcr-register"),
]
