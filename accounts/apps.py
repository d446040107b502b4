from allauth.socialaccount.apps import SocialAccountConfig
from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"


class SocialAccounts(SocialAccountConfig):  # type: ignore[misc]
    """Its providers, and what they load, come with the URLs: a command needs none of them."""

    default = False

    def ready(self) -> None:
        from allauth.socialaccount import checks  # noqa: F401
