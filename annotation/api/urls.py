"""Routes of the REST interface. What stands in no row below answers 404 in the API's own shape."""

from django.urls import URLPattern, URLResolver, path, re_path

from annotation.api import (
    assignments,
    changes,
    evaluations,
    export_jobs,
    exports,
    imports,
    label_sets,
    people,
    projects,
    questionnaires,
)
from annotation.api.base import NothingHere
from annotation.api.schema import DocsView, SchemaView

PROJECT = "v1/projects/<slug:slug>/"
IMPORT = f"{PROJECT}imports/<uuid:pk>/"
EXPORT = f"{PROJECT}exports/jobs/<uuid:pk>/"
LABEL_SET = "v1/label-sets/<int:pk>/"

urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(url_name="schema"), name="api-docs"),
    path("v1/me/", people.Me.as_view(), name="api-me"),
    path("v1/questionnaires/", questionnaires.Questionnaires.as_view(), name="api-questionnaires"),
    path("v1/questionnaires/<slug:name>/", questionnaires.QuestionnaireItem.as_view(), name="api-questionnaire"),
    path("v1/projects/", projects.Projects.as_view(), name="api-projects"),
    path(PROJECT, projects.ProjectItem.as_view(), name="api-project"),
    path(f"{PROJECT}dialogues/", projects.Dialogues.as_view(), name="api-dialogues"),
    path(f"{PROJECT}dialogues/<int:pk>/", projects.DialogueItem.as_view(), name="api-dialogue"),
    path(f"{PROJECT}assignments/", assignments.Assignments.as_view(), name="api-assignments"),
    path(f"{PROJECT}imports/", imports.Imports.as_view(), name="api-imports"),
    path(IMPORT, imports.ImportItem.as_view(), name="api-import"),
    path(f"{IMPORT}confirm/", imports.ImportConfirm.as_view(), name="api-import-confirm"),
    path(f"{IMPORT}discard/", imports.ImportDiscard.as_view(), name="api-import-discard"),
    path(f"{IMPORT}cancel/", imports.ImportCancel.as_view(), name="api-import-cancel"),
    path(f"{IMPORT}retry/", imports.ImportRetry.as_view(), name="api-import-retry"),
    path(f"{PROJECT}exports/", exports.Exports.as_view(), name="api-exports"),
    path(f"{PROJECT}exports/dataset/", exports.Dataset.as_view(), name="api-dataset"),
    path(f"{PROJECT}exports/jobs/", export_jobs.ExportJobs.as_view(), name="api-export-jobs"),
    path(EXPORT, export_jobs.ExportJobItem.as_view(), name="api-export"),
    path(f"{EXPORT}download/", export_jobs.ExportJobDownload.as_view(), name="api-export-download"),
    path(f"{EXPORT}cancel/", export_jobs.ExportJobCancel.as_view(), name="api-export-cancel"),
    path(f"{EXPORT}retry/", export_jobs.ExportJobRetry.as_view(), name="api-export-retry"),
    path(f"{EXPORT}delete-files/", export_jobs.ExportJobDeleteFiles.as_view(), name="api-export-delete-files"),
    path(f"{PROJECT}evaluations/", evaluations.Evaluations.as_view(), name="api-evaluations"),
    path(f"{PROJECT}evaluations/<uuid:pk>/", evaluations.EvaluationItem.as_view(), name="api-evaluation"),
    path("v1/label-sets/", label_sets.LabelSets.as_view(), name="api-label-sets"),
    path(LABEL_SET, label_sets.LabelSetItem.as_view(), name="api-label-set"),
    path(f"{LABEL_SET}changes/", changes.Changes.as_view(), name="api-label-set-changes"),
    path(f"{LABEL_SET}undo/", changes.Undo.as_view(), name="api-label-set-undo"),
    path(f"{LABEL_SET}redo/", changes.Redo.as_view(), name="api-label-set-redo"),
    path(f"{LABEL_SET}finish/", changes.Finish.as_view(), name="api-label-set-finish"),
    path(f"{LABEL_SET}reopen/", changes.Reopen.as_view(), name="api-label-set-reopen"),
    path(f"{LABEL_SET}portal-file/", exports.PortalFile.as_view(), name="api-portal-file"),
    path(f"{LABEL_SET}history/", label_sets.History.as_view(), name="api-label-set-history"),
    path(f"{LABEL_SET}state/", label_sets.State.as_view(), name="api-label-set-state"),
    path(f"{LABEL_SET}findings/", label_sets.Findings.as_view(), name="api-label-set-findings"),
    # With the slash, so that an address that lacks it is still sent on to the right one.
    re_path(r"^(?:.*/)?$", NothingHere.as_view(), name="api-nothing-here"),
]
