"""The routes: pages at the root, the REST interface under /api/."""

from django.urls import include, path

urlpatterns = [
    path("", include("annotation.urls")),
    path("api/", include("annotation.api.urls")),
    path("", include("umls_linker.urls")),
]
