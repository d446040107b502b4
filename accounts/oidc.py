"""Sign-in by the operator's OpenID provider, with the checks that allauth leaves to others.

allauth binds state and PKCE to the session, and checks issuer, audience and age of the id_token.
Here its signature is checked too, a nonce binds it to this very sign-in, and what the userinfo
endpoint tells must be about the same person (OpenID Connect Core 3.1.3.7 and 5.3.2).
"""

import hashlib
from typing import Any
from urllib.parse import urlsplit

from allauth.account.internal.decorators import login_not_required
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect import views
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from requests import RequestException


def nonce_of(state: str) -> str:
    """What the id_token must repeat; the state is random, of this session, and good once."""
    return hashlib.sha256(f"nonce:{state}".encode()).hexdigest()


class Client(OAuth2Client):  # type: ignore[misc]
    def get_redirect_url(self, url: str, scope: list[str], params: dict[str, str]) -> str:
        with_nonce = {**params, "nonce": nonce_of(str(self.state))}
        address: str = super().get_redirect_url(url, scope, with_nonce)
        return address


class Adapter(views.OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    client_class = Client

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        try:
            login = super().complete_login(request, app, token, **kwargs)
            claims, person = (login.account.extra_data[name] for name in ("id_token", "userinfo"))
            is_same_person = claims["sub"] == person["sub"]
            is_for_this_sign_in = claims["nonce"] == nonce_of(request.GET["state"])
        except (KeyError, TypeError, ValueError) as error:
            raise OAuth2Error("The provider's answer is not whole.") from error
        if not (is_same_person and is_for_this_sign_in):
            raise OAuth2Error("The provider's answer is for another sign-in.")
        return login

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        claims: dict[str, Any] = jwtkit.verify_and_decode(
            credential=id_token,
            keys_url=self.openid_config["jwks_uri"],
            issuer=self.openid_config["issuer"],
            audience=app.client_id,
            lookup_kid=jwtkit.lookup_kid_jwk,
        )
        return claims


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    package = "allauth.socialaccount.providers.openid_connect"
    oauth2_adapter_class = Adapter

    def get_redirect_from_request_kwargs(self, request: HttpRequest) -> dict[str, Any]:
        """As configured: a link to the sign-in cannot choose what the provider is asked."""
        asked: dict[str, Any] = super().get_redirect_from_request_kwargs(request)
        return {**asked, "scope": self.get_scope(), "auth_params": self.get_auth_params()}

    def redirect(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            sent: HttpResponse = super().redirect(request, *args, **kwargs)
        except (RequestException, KeyError) as error:  # it is down, or no OpenID provider
            sent = render_authentication_error(request, self, exception=error)
        return sent


@login_not_required  # type: ignore[untyped-decorator]
def login(request: HttpRequest, provider_id: str) -> HttpResponse:
    """The way to the provider: by a page, since browsers block a redirect that answers a form.

    They hold it, and each redirect after it, to the `form-action` of the page with the form.
    """
    answer: HttpResponse = views.login(request, provider_id)
    address = answer.headers.get("Location", "")
    if host := urlsplit(address).netloc:
        return render(request, "accounts/leave.html", {"address": address, "host": host})
    return answer


@login_not_required  # type: ignore[untyped-decorator]
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Where the provider sends people back to."""
    try:
        view = OAuth2CallbackView.adapter_view(Adapter(request, provider_id))
        answer: HttpResponse = view(request)
    except SocialApp.DoesNotExist:
        raise Http404 from None
    return answer
