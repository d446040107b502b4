"""The addresses that OAuth is about: this server, the resource it guards, and its metadata."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

RESOURCE_PATH = "/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource"
SCOPES = "kb:read kb:write"


def base_url(scheme: str, host: str) -> str:
    """Where clients reach this server: as the operator says, else as this request did."""
    return settings.QUARRY_PUBLIC_URL or f"{scheme}://{host}"


def base_url_of(request: HttpRequest) -> str:
    return base_url(request.scheme or "http", request.get_host())


def resource_of(request: HttpRequest) -> str:
    """The audience of every access token: the MCP endpoint, without a slash at its end."""
    return base_url_of(request) + RESOURCE_PATH


def is_this_server(audience: str) -> bool:
    """Whether a token for this audience is for here; the issuer has checked it more closely."""
    if settings.QUARRY_PUBLIC_URL:
        return audience == settings.QUARRY_PUBLIC_URL + RESOURCE_PATH
    parts = urlsplit(audience)
    domain, _port = split_domain_port(parts.netloc)
    return parts.path == RESOURCE_PATH and validate_host(domain, settings.ALLOWED_HOSTS)


def challenge(base: str, *, error: str = "") -> str:
    """The WWW-Authenticate header by which a client finds out how to get a token."""
    parts = ['Bearer realm="quarry"']
    if error:
        parts.append(f'error="{error}"')
    parts.append(f'resource_metadata="{base}{METADATA_PATH}{RESOURCE_PATH}"')
    parts.append(f'scope="{SCOPES}"')
    return ", ".join(parts)
