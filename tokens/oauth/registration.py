"""Dynamic client registration (RFC 7591): open to anybody, so limited by address and forgiving."""

import json
import time
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, JsonResponse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from django_ratelimit.core import is_ratelimited
from oauth2_provider.generators import generate_client_secret
from oauth2_provider.models import Application

from tokens.oauth.redirects import is_acceptable

PER_HOUR = 30
_LARGEST = 16 * 1024
_MOST_URIS = 20
_WITH_SECRET = ("client_secret_post", "client_secret_basic")


@method_decorator(csrf_exempt, name="dispatch")
class RegistrationView(View):
    """Registers a client with those of its redirect URIs that can be accepted.

    Grants, scopes and whatever else a client names are left out where they are not served here:
    clients copy such lists from one server to the next.
    """

    def post(self, request: HttpRequest) -> JsonResponse:
        if is_ratelimited(
            request, group="oauth_registration", key="ip", rate=f"{PER_HOUR}/h", increment=True
        ):
            told = f"At most {PER_HOUR} clients an hour register from one address; try again later."
            return _refuse("temporarily_unavailable", told, status=429)
        metadata = _read_object(request.body)
        if metadata is None:
            return _refuse("invalid_client_metadata", "Send the client's metadata as JSON object.")
        given = metadata.get("redirect_uris")
        listed = given if isinstance(given, list) else []
        uris = [uri for uri in listed if isinstance(uri, str) and is_acceptable(uri)][:_MOST_URIS]
        if not uris:
            return _refuse(
                "invalid_redirect_uri",
                "Name at least one redirect URI: https, a loopback address, or a known app's.",
            )
        method = metadata.get("token_endpoint_auth_method", "none")
        secret = generate_client_secret() if method in _WITH_SECRET else ""
        client = Application(
            name=str(metadata.get("client_name") or "")[:100],
            redirect_uris=" ".join(uris),
            client_type=Application.CLIENT_CONFIDENTIAL if secret else Application.CLIENT_PUBLIC,
            client_secret=secret,
            authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
            registration_source=Application.RegistrationSource.DCR,
        )
        try:
            client.full_clean()
        except ValidationError as error:
            return _refuse("invalid_client_metadata", " ".join(error.messages))
        client.save()
        answer = {
            "client_id": client.client_id,
            "client_id_issued_at": int(time.time()),
            "client_name": client.name,
            "redirect_uris": uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": "kb:read kb:write",
            "token_endpoint_auth_method": method if secret else "none",
        }
        if secret:
            answer |= {"client_secret": secret, "client_secret_expires_at": 0}
        return JsonResponse(answer, status=201, headers={"Cache-Control": "no-store"})


def _read_object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body) if len(body) <= _LARGEST else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _refuse(error: str, description: str, *, status: int = 400) -> JsonResponse:
    return JsonResponse({"error": error, "error_description": description}, status=status)
