"""Routes of dividing dialogues among annotators, and of an annotator's queue."""

from django.urls import path

from annotation.views import group_assignment, queues

urlpatterns = [
    path("projects/<slug:slug>/assign/groups/", group_assignment.groups, name="assign-groups"),
    path("projects/<slug:slug>/assign/changes/", group_assignment.changes, name="assign-changes"),
    path("projects/<slug:slug>/next/", queues.next_work, name="work-next"),
]
