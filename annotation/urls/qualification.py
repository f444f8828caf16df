"""Routes of training, tests, and who may work."""

from django.urls import path

from annotation.views import exams, qualification, training, work_gate

urlpatterns = [
    path("projects/<slug:slug>/exams/", exams.exams, name="exams"),
    path("projects/<slug:slug>/exams/settings/", exams.exams_settings, name="exams-settings"),
    path("projects/<slug:slug>/exams/add/", exams.exams_add, name="exams-add"),
    path("projects/<slug:slug>/exams/override/", work_gate.exams_override, name="exams-override"),
    path("projects/<slug:slug>/exams/waive/", work_gate.exams_waive, name="exams-waive"),
    path("projects/<slug:slug>/exams/attempt/", work_gate.exams_attempt, name="exams-attempt"),
    path("projects/<slug:slug>/overrides/<int:pk>/revoke/", work_gate.override_revoke_view, name="override-revoke"),
    path("projects/<slug:slug>/exams/<int:pk>/", exams.exam, name="exam"),
    path("projects/<slug:slug>/exams/<int:pk>/remove/", exams.exam_remove_view, name="exam-remove"),
    path("projects/<slug:slug>/exams/<int:pk>/move/", exams.exam_move_view, name="exam-move"),
    path("projects/<slug:slug>/exams/<int:pk>/gold/", exams.exam_gold, name="exam-gold"),
    path("projects/<slug:slug>/exams/<int:pk>/explanations/", exams.exam_explanations, name="exam-explanations"),
    path("projects/<slug:slug>/qualification/", qualification.qualification, name="qualification"),
    path("projects/<slug:slug>/qualification/training/", qualification.training_start_view, name="training-start"),
    path("projects/<slug:slug>/qualification/test/", qualification.test_start_view, name="test-start"),
    path("projects/<slug:slug>/attempts/<int:pk>/", qualification.attempt, name="attempt"),
    path("projects/<slug:slug>/attempts/<int:pk>/hand-in/", qualification.attempt_hand_in_view, name="attempt-hand-in"),
    path("projects/<slug:slug>/attempts/<int:pk>/feedback/", qualification.attempt_feedback, name="attempt-feedback"),
    path("projects/<slug:slug>/work/<int:pk>/check/", training.workbench_check, name="workbench-check"),
]
