"""Routes of the exports for researchers."""

from django.urls import path

from annotation.views import exports

urlpatterns = [
    path("projects/<slug:slug>/exports/new/", exports.export_new, name="export-new"),
    path("projects/<slug:slug>/exports/new/splits/", exports.splits, name="export-splits"),
    path("projects/<slug:slug>/exports/<uuid:pk>/", exports.export_job, name="export"),
    path("projects/<slug:slug>/exports/<uuid:pk>/progress/", exports.progress, name="export-progress"),
    path("projects/<slug:slug>/exports/<uuid:pk>/download/", exports.download, name="export-download"),
    path("projects/<slug:slug>/exports/<uuid:pk>/cancel/", exports.cancel, name="export-cancel"),
    path("projects/<slug:slug>/exports/<uuid:pk>/retry/", exports.retry, name="export-retry"),
    path("projects/<slug:slug>/exports/<uuid:pk>/delete/", exports.delete, name="export-delete"),
]
