"""All routes of the pages, one file for each stage of the data's way. The API's are in `annotation.api.urls`."""

from annotation.urls import (
    accounts,
    adjudication,
    agreement,
    assignment,
    concerns,
    files,
    imports,
    projects,
    qualification,
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
    *qualification.urlpatterns,
]
