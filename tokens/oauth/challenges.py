"""What REST says to a caller without a token, or with too little of one."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from tokens.models import Token
from tokens.oauth.addresses import base_url_of, challenge


class NameMetadata:
    """Completes the challenge of a refusal, so that an OAuth client knows what to ask for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path.startswith("/api/"):
            return response
        if response.status_code == 401 and response.has_header("WWW-Authenticate"):
            came = "Authorization" in request.headers
            error = "invalid_token" if came else ""
            response["WWW-Authenticate"] = challenge(base_url_of(request), error=error)
        elif response.status_code == 403 and _lacks_write(request, response):
            told = challenge(base_url_of(request), error="insufficient_scope")
            response["WWW-Authenticate"] = told
        return response


def _lacks_write(request: HttpRequest, response: HttpResponse) -> bool:
    token: Token | None = getattr(request, "quarry_token", None)
    data = getattr(response, "data", None)
    required = data.get("required") if isinstance(data, dict) else None
    return token is not None and bool(token.client_id) and required == ["write"]
