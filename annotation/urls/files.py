"""Routes of the files that labels come out as and go in by."""

from django.urls import path

from annotation.views import files

urlpatterns = [
    path("projects/<slug:slug>/exports/", files.exports, name="exports"),
    path("projects/<slug:slug>/exports/dataset.json", files.dataset, name="dataset-file"),
    path("projects/<slug:slug>/work/<int:pk>/labels.json", files.labels_file, name="portal-file"),
    path("projects/<slug:slug>/work/<int:pk>/labels/import/", files.labels_import, name="labels-import"),
]
