from django.urls import path

from accounts.views import HomeView, InvitationView, RevokeView

urlpatterns = [
    path("", HomeView.as_view(), name="account_home"),
    path("invitations/<str:secret>", InvitationView.as_view(), name="account_invitation"),
    path("tokens/<uuid:token_id>/revoke", RevokeView.as_view(), name="account_revoke"),
]
