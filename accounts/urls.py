from django.urls import path

from accounts import oidc
from accounts.views import HomeView, InvitationView, RevokeView, request_reset

urlpatterns = [
    # In place of allauth's, which stand below.
    path("password/reset/", request_reset),
    path("oidc/<str:provider_id>/login/", oidc.login),
    path("oidc/<str:provider_id>/login/callback/", oidc.callback),
    path("", HomeView.as_view(), name="account_home"),
    path("invitations/<str:secret>", InvitationView.as_view(), name="account_invitation"),
    path("tokens/<uuid:token_id>/revoke", RevokeView.as_view(), name="account_revoke"),
]
