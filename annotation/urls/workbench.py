"""Routes of the workbench."""

from django.urls import path

from annotation.views import workbench

urlpatterns = [
    path("projects/<slug:slug>/work/<int:pk>/", workbench.workbench, name="workbench"),
    path("projects/<slug:slug>/work/<int:pk>/changes/", workbench.changes, name="workbench-changes"),
    path("projects/<slug:slug>/work/<int:pk>/undo/", workbench.undo, name="workbench-undo"),
    path("projects/<slug:slug>/work/<int:pk>/redo/", workbench.redo, name="workbench-redo"),
    path("projects/<slug:slug>/work/<int:pk>/history/", workbench.history, name="workbench-history"),
    path("projects/<slug:slug>/work/<int:pk>/finish/", workbench.finish, name="workbench-finish"),
    path("projects/<slug:slug>/work/<int:pk>/reopen/", workbench.reopen, name="workbench-reopen"),
    path("projects/<slug:slug>/work/<int:pk>/lock/", workbench.lock, name="workbench-lock"),
]
