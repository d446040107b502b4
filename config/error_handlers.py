"""What Django itself answers when no view could: below /api/, in the envelope of every error."""

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults

WRONG_HOST = "This Host is not served here; the operator can add it to QUARRY_ALLOWED_HOSTS."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    is_host = isinstance(exception, DisallowedHost)
    if _is_api(request):
        sentence = WRONG_HOST if is_host else "The request is malformed."
        return _envelope(request, 400, "invalid_body", sentence)
    if is_host:
        return HttpResponse(f"{WRONG_HOST}\n", status=400, content_type="text/plain")
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        sentence = "There is no such route; /api/v1/docs/ lists those there are."
        return _envelope(request, 404, "not_found", sentence)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if _is_api(request):
        sentence = "Something went wrong here; try again, then tell the operator."
        return _envelope(request, 500, "internal_error", sentence)
    return defaults.server_error(request)


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _envelope(request: HttpRequest, status: int, code: str, sentence: str) -> HttpResponse:
    request_id: str = getattr(request, "request_id", "")
    body = {"error": code, "message": sentence, "request_id": request_id}
    return JsonResponse(body, status=status)
