"""How people sign in: nobody signs up, everybody is invited."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.http import HttpRequest

logger = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def can_delete_email(self, email_address: Any) -> bool:
        return True

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        if not settings.EMAIL_SERVER:
            return
        try:
            super().send_mail(template_prefix, email, context)
        except OSError as error:  # the page says the same, so that it tells nothing of accounts
            logger.error("A mail could not be sent: %s", error)


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Whoever the operator's identity provider knows may come in, unless the operator says no."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return bool(settings.QUARRY_OIDC_SIGNUP)
