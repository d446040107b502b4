from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from config.health import livez, readyz
from config.metrics import metrics

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("tokens.urls")),
    path("api/v1/", include("knowledge.api.urls")),
    path("livez", livez),
    path("readyz", readyz),
    path("metrics", metrics),
]

handler400 = "config.failures.bad_request"
handler404 = "config.failures.not_found"
handler500 = "config.failures.server_error"
