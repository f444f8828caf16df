"""Routes of adjudication: the queue, and the screen on which gold is decided."""

from django.urls import path

from annotation.views import adjudication, adjudication_queue

urlpatterns = [
    path("projects/<slug:slug>/adjudication/", adjudication_queue.queue, name="adjudication"),
    path("projects/<slug:slug>/adjudication/next/", adjudication_queue.next_open, name="adjudicate-next"),
    path("projects/<slug:slug>/adjudication/accept/", adjudication_queue.accept, name="adjudication-accept"),
    path("projects/<slug:slug>/adjudication/<int:pk>/", adjudication.adjudicate, name="adjudicate"),
    path("projects/<slug:slug>/adjudication/<int:pk>/begin/", adjudication_queue.begin, name="adjudicate-begin"),
    path("projects/<slug:slug>/adjudication/<int:pk>/decide/", adjudication.decide, name="adjudicate-decide"),
    path("projects/<slug:slug>/adjudication/<int:pk>/undo/", adjudication.undo, name="adjudicate-undo"),
    path("projects/<slug:slug>/adjudication/<int:pk>/finish/", adjudication.finish, name="adjudicate-finish"),
    path("projects/<slug:slug>/adjudication/<int:pk>/reopen/", adjudication.reopen, name="adjudicate-reopen"),
    path("projects/<slug:slug>/adjudication/<int:pk>/all/", adjudication.review_all, name="adjudicate-review-all"),
    path("projects/<slug:slug>/adjudication/<int:pk>/reveal/", adjudication.reveal, name="adjudicate-reveal"),
    path("projects/<slug:slug>/adjudication/<int:pk>/guideline/", adjudication.guideline, name="adjudicate-guideline"),
]
