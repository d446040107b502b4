"""Where a client redeems a code, or renews its access."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from oauth2_provider.views import TokenView


class TokenEndpoint(TokenView):  # type: ignore[misc]
    """The toolkit's, which calls a refusal while it saves HTML although its body is JSON."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        answer: HttpResponse = super().post(request, *args, **kwargs)
        answer["Content-Type"] = "application/json"
        answer["Cache-Control"] = "no-store"
        return answer
