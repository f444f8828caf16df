"""All routes of the pages, one file for each stage of the data's way. The API's are in `annotation.api.urls`."""

from annotation.urls import accounts, files, imports, projects, workbench

urlpatterns = [
    *accounts.urlpatterns,
    *projects.urlpatterns,
    *imports.urlpatterns,
    *workbench.urlpatterns,
    *files.urlpatterns,
]
