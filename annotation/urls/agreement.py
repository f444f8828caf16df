"""Routes of the agreement between annotators."""

from django.urls import path

from annotation.views import agreement, agreement_files, agreement_places, state_timeline

urlpatterns = [
    path("projects/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path("projects/<slug:slug>/agreement/keep/", agreement.agreement_keep, name="agreement-keep"),
    path("projects/<slug:slug>/agreement/places/", agreement_places.agreement_places, name="agreement-places"),
    path("projects/<slug:slug>/agreement/names/", agreement_places.agreement_names, name="agreement-names"),
    path("projects/<slug:slug>/agreement/agreement.json", agreement_files.agreement_json_file, name="agreement-json"),
    path("projects/<slug:slug>/agreement/agreement.csv", agreement_files.agreement_csv_file, name="agreement-csv"),
    path(
        "projects/<slug:slug>/agreement/disagreements.csv",
        agreement_files.agreement_disagreements_file,
        name="agreement-disagreements",
    ),
    path("projects/<slug:slug>/agreement/timeline/<int:pk>/", state_timeline.timeline, name="state-timeline"),
]
