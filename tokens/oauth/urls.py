from django.urls import path
from oauth2_provider.views import RevokeTokenView, TokenView

from tokens.oauth.consent import ConsentView
from tokens.oauth.registration import RegistrationView

app_name = "oauth2_provider"

urlpatterns = [
    path("authorize", ConsentView.as_view(), name="authorize"),
    path("token", TokenView.as_view(), name="token"),
    path("revoke", RevokeTokenView.as_view(), name="revoke-token"),
    path("register", RegistrationView.as_view(), name="dcr-register"),
]
