"""Routes of the imports."""

from django.urls import path

from annotation.views import imports

urlpatterns = [
    path("projects/<slug:slug>/imports/", imports.imports, name="imports"),
    path("projects/<slug:slug>/imports/<uuid:pk>/", imports.import_job, name="import"),
    path("projects/<slug:slug>/imports/<uuid:pk>/progress/", imports.progress, name="import-progress"),
    path("projects/<slug:slug>/imports/<uuid:pk>/confirm/", imports.confirm, name="import-confirm"),
    path("projects/<slug:slug>/imports/<uuid:pk>/discard/", imports.discard, name="import-discard"),
    path("projects/<slug:slug>/imports/<uuid:pk>/cancel/", imports.cancel, name="import-cancel"),
    path("projects/<slug:slug>/imports/<uuid:pk>/retry/", imports.retry, name="import-retry"),
]
