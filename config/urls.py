from django.contrib import admin
from django.urls import include, path

from config.health import livez, readyz
from config.metrics import metrics
from tokens.oauth.metadata import PATHS, ResourceMetadata, ServerMetadata

_METADATA = {"protected-resource": ResourceMetadata, "authorization-server": ServerMetadata}

admin.autodiscover()

urlpatterns = [
    path("", include("console.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("accounts.urls")),
    path("accounts/", include("allauth.urls")),
    path("oauth/", include("tokens.oauth.urls")),
    *(
        path(f".well-known/oauth-{name}{form}", view.as_view())
        for name, view in _METADATA.items()
        for form in PATHS
    ),
    path("api/v1/", include("tokens.urls")),
    path("api/v1/", include("knowledge.api.urls")),
    path("livez", livez),
    path("readyz", readyz),
    path("metrics", metrics),
]

handler400 = "config.error_handlers.bad_request"
handler404 = "config.error_handlers.not_found"
handler500 = "config.error_handlers.server_error"
