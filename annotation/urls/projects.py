"""Routes of projects, members, dialogues, assignments and guidelines."""

from django.urls import path

from annotation.views import assignments, dialogues, guidelines, members, projects

urlpatterns = [
    path("projects/", projects.projects, name="projects"),
    path("projects/new/", projects.project_new, name="project-new"),
    path("projects/<slug:slug>/", projects.project, name="project"),
    path("projects/<slug:slug>/settings/", projects.project_settings, name="project-settings"),
    path("projects/<slug:slug>/settings/archive/", projects.project_archive_view, name="project-archive"),
    path("projects/<slug:slug>/settings/restore/", projects.project_restore_view, name="project-restore"),
    path("projects/<slug:slug>/settings/delete/", projects.project_delete_view, name="project-delete"),
    path("projects/<slug:slug>/members/", members.members, name="members"),
    path("projects/<slug:slug>/members/add/", members.member_add_view, name="member-add"),
    path("projects/<slug:slug>/members/new/", members.member_new, name="member-new"),
    path("projects/<slug:slug>/members/<int:pk>/", members.member, name="member"),
    path("projects/<slug:slug>/members/<int:pk>/remove/", members.member_remove_view, name="member-remove"),
    path("projects/<slug:slug>/dialogues/", dialogues.dialogues, name="dialogues"),
    path("projects/<slug:slug>/dialogues/bulk/", dialogues.dialogues_bulk, name="dialogues-bulk"),
    path("projects/<slug:slug>/dialogues/<int:pk>/", dialogues.dialogue, name="dialogue"),
    path("projects/<slug:slug>/dialogues/<int:pk>/assign/", assignments.dialogue_assign, name="dialogue-assign"),
    path("projects/<slug:slug>/dialogues/<int:pk>/archive/", dialogues.dialogue_archive_view, name="dialogue-archive"),
    path("projects/<slug:slug>/dialogues/<int:pk>/restore/", dialogues.dialogue_restore_view, name="dialogue-restore"),
    path("projects/<slug:slug>/dialogues/<int:pk>/delete/", dialogues.dialogue_delete_view, name="dialogue-delete"),
    path("projects/<slug:slug>/assign/", assignments.assign, name="assign"),
    path("projects/<slug:slug>/work/<int:pk>/unassign/", assignments.unassign, name="label-set-unassign"),
    path("projects/<slug:slug>/guidelines/", guidelines.guidelines, name="guidelines"),
]
