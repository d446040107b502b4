"""How a client finds out what to ask, and where (RFC 9728 and RFC 8414)."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views import View

from tokens.oauth.addresses import RESOURCE_PATH, base_url_of, resource_of

_SCOPES = ["kb:read", "kb:write"]
_CLIENT_AUTHENTICATION = ["none", "client_secret_post", "client_secret_basic"]


class Metadata(View):
    """A document that any page may read; it holds nothing about anybody."""

    def get(self, request: HttpRequest, **kwargs: Any) -> JsonResponse:
        answer = JsonResponse(self.document(request))
        answer["Access-Control-Allow-Origin"] = "*"
        answer["Cache-Control"] = "public, max-age=300"
        return answer

    def document(self, request: HttpRequest) -> dict[str, Any]:
        raise NotImplementedError


class ResourceMetadata(Metadata):
    """What is guarded here, and by whom."""

    def document(self, request: HttpRequest) -> dict[str, Any]:
        return {
            "resource": resource_of(request),
            "authorization_servers": [base_url_of(request)],
            "scopes_supported": _SCOPES,
            "bearer_methods_supported": ["header"],
            "resource_name": "Quarry",
        }


class ServerMetadata(Metadata):
    """The authorization server: the same document under the root and under the path of MCP."""

    def document(self, request: HttpRequest) -> dict[str, Any]:
        base = base_url_of(request)
        return {
            "issuer": base,
            "authorization_endpoint": base + reverse("oauth2_provider:authorize"),
            "token_endpoint": base + reverse("oauth2_provider:token"),
            "registration_endpoint": base + reverse("oauth2_provider:dcr-register"),
            "revocation_endpoint": base + reverse("oauth2_provider:revoke-token"),
            "scopes_supported": _SCOPES,
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
            "revocation_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }


PATHS = ("", RESOURCE_PATH)
"""The root form of a well-known address, and the form with the resource's path."""
