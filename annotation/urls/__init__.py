"""All routes of the pages, one file for each stage of the data's way. The API's are in `annotation.api.urls`."""

from annotation.urls import (
    accounts,
    adjudication,
    agreement,
    assignment,
    concerns,
    exports,
    files,
    imports,
    projects,
    qualification,
    research,
    workbench,
)

urlpatterns = [
    *accounts.urlpatterns,
    *projects.urlpatterns,
    *assignment.urlpatterns,
    *imports.urlpatterns,
    *workbench.urlpatterns,
    *agreement.urlpatterns,
    *concerns.urlpatterns,
    *adjudication.urlpatterns,
    *files.urlpatterns,
    *exports.urlpatterns,
    *research.urlpatterns,
    *qualification.urlpatterns,
]
