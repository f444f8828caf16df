"""Routes of the pages for researchers: statistics, and models compared with the gold."""

from django.urls import path

from annotation.views import evaluation_errors, evaluations, statistics

urlpatterns = [
    path("projects/<slug:slug>/statistics/", statistics.statistics, name="statistics"),
    path("projects/<slug:slug>/statistics/<slug:name>.svg", statistics.chart, name="statistics-chart"),
    path("projects/<slug:slug>/statistics/<slug:name>.csv", statistics.csv_file, name="statistics-csv"),
    path("projects/<slug:slug>/evaluations/", evaluations.evaluations, name="evaluations"),
    path("projects/<slug:slug>/evaluations/<uuid:pk>/", evaluations.evaluation, name="evaluation"),
    path("projects/<slug:slug>/evaluations/<uuid:pk>/progress/", evaluations.progress, name="evaluation-progress"),
    path("projects/<slug:slug>/evaluations/<uuid:pk>/compare/", evaluation_errors.compare, name="evaluation-compare"),
    path(
        "projects/<slug:slug>/evaluations/<uuid:pk>/predictions/",
        evaluations.predictions,
        name="evaluation-predictions",
    ),
    path("projects/<slug:slug>/evaluations/<uuid:pk>/cancel/", evaluations.cancel, name="evaluation-cancel"),
    path("projects/<slug:slug>/evaluations/<uuid:pk>/again/", evaluations.again, name="evaluation-again"),
    path("projects/<slug:slug>/evaluations/<uuid:pk>/delete/", evaluations.delete, name="evaluation-delete"),
]
