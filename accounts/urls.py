from django.contrib.auth.decorators import login_required
from django.urls import path
from django.views.generic import RedirectView

from accounts import oidc
from accounts.views import InvitationView, request_reset

urlpatterns = [
    # In place of allauth's, which stand below.
    path("password/reset/", request_reset),
    path("oidc/<str:provider_id>/login/", oidc.login),
    path("oidc/<str:provider_id>/login/callback/", oidc.callback),
    path("", login_required(RedirectView.as_view(pattern_name="console:connections"))),
    path("invitations/<str:secret>", InvitationView.as_view(), name="account_invitation"),
]
